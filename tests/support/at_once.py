"""Several threads that start together."""

from collections import ChainMap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import OperationalError, connection

T = TypeVar("T")


def at_once(count: int, do: Callable[[int], T]) -> list[T]:
    """Call `do(number)` in `count` threads that start together; return the results in order.

    SQLite in memory has no busy timeout, so it refuses a second writer. The refused calls are
    made again together. If all calls were refused, the first one is made again alone.
    """
    results: dict[int, T] = {}
    while left := [number for number in range(count) if number not in results]:
        results |= _start_together(left, do) or _start_together(left[:1], do)
    return [results[number] for number in range(count)]


def _start_together(numbers: Sequence[int], do: Callable[[int], T]) -> dict[int, T]:
    """Return the results of the calls that the database did not refuse, by number."""
    start = Barrier(len(numbers))

    def run(number: int) -> dict[int, T]:
        start.wait(60)
        try:
            return {number: do(number)}
        except OperationalError:
            if len(numbers) == 1:
                raise
            return {}
        finally:
            connection.close()

    with ThreadPoolExecutor(len(numbers)) as pool:
        return dict(ChainMap(*pool.map(run, numbers)))
