"""Parallel calls: concurrent for a remote service, one by one for the built-in service."""

import threading
from typing import Any

import pytest

from dashboard.client import ConnectError
from dashboard.service.client import MAX_QUEUED_CALLS, MAX_THREADS, run_concurrently
from tests.support.clock import Clock


def test_calls_of_a_remote_service_run_in_parallel(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None
    meeting = threading.Barrier(2, timeout=60)
    first, second = run_concurrently(meeting.wait), run_concurrently(meeting.wait)
    assert {first(), second()} == {0, 1}


def test_a_local_call_runs_when_its_result_is_needed(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = "some.Transport"
    created: list[int | str] = []
    result = run_concurrently(lambda: created.append(threading.get_ident()))
    created.append("asked for")
    result()
    assert created == ["asked for", threading.get_ident()]


def test_a_failed_call_raises_when_its_result_is_read(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None

    def fail() -> None:
        raise LookupError

    result = run_concurrently(fail)
    with pytest.raises(LookupError):
        result()


def test_an_abandoned_call_still_finishes(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None
    may_end = threading.Event()
    result = run_concurrently(lambda: may_end.wait(60))
    with pytest.raises(TimeoutError):
        result(timeout=0.01)
    may_end.set()
    assert result()


def test_the_time_limit_counts_from_when_a_page_asked(settings: Any, clock: Clock) -> None:
    settings.SERVICE_TRANSPORT = None
    all_began, may_end = threading.Barrier(MAX_THREADS + 1), threading.Event()

    def hold() -> bool:
        all_began.wait(60)
        return may_end.wait(60)

    busy = [run_concurrently(hold) for _ in range(MAX_THREADS)]
    all_began.wait(60)
    created: list[str] = []
    late = run_concurrently(lambda: created.append("a call"))
    clock.advance(settings.SERVICE_TIMEOUT_S)
    may_end.set()
    with pytest.raises(ConnectError, match="Request not sent"):
        late()
    assert created == []
    assert all(item() for item in busy)


def test_a_full_queue_makes_the_page_call_itself(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None
    may_end = threading.Event()
    places = MAX_THREADS + MAX_QUEUED_CALLS
    waiting = [run_concurrently(lambda: may_end.wait(60)) for _ in range(places)]
    assert run_concurrently(threading.get_ident)() == threading.get_ident()
    with pytest.raises(TimeoutError):
        run_concurrently(threading.get_ident)(timeout=5)
    may_end.set()
    assert all(item() for item in waiting)
    assert run_concurrently(threading.get_ident)() != threading.get_ident()
