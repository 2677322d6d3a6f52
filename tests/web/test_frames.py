"""Calls find room for their frames, however deep they are."""

import resource
from collections.abc import Callable

from dashboard.web.frames import with_room

CALLS, DEEPEST = 400, 200


def faults_at(depth: int, work: Callable[[], None]) -> int:
    """Return how many page faults work brings that is called that deep."""
    if depth:
        return faults_at(depth - 1, work)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def many_calls() -> None:
    def call() -> None:
        return None

    for _ in range(CALLS):
        call()


def test_calls_ask_the_system_for_no_memory_at_any_depth() -> None:
    most = max(faults_at(depth, with_room(many_calls)) for depth in range(DEEPEST))
    assert most < CALLS / 4


def test_arguments_answer_and_name_are_those_of_the_function() -> None:
    def add(first: int, *, second: int) -> int:
        return first + second

    roomy = with_room(add)
    assert roomy(1, second=2) == 3
    assert roomy.__name__ == "add"
