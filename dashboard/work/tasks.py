"""Tasks of `manage.py worker`. Each package defines its own.

No row and no task can stop another. Any error is logged, and the package records it as a failed
attempt, with a back-off and an end.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from django.db import connection
from django.db.models import QuerySet

T = TypeVar("T")
ResultT = TypeVar("ResultT")

_logger = logging.getLogger("dashboard.worker")


@dataclass(frozen=True)
class WorkerTask:
    """A kind of work. It runs in threads of its own, and delays no other."""

    run: Callable[[str, Event], object]
    """Does due work until stopped, with the id of the worker. Errors are logged."""
    due: tuple[Callable[[], "QuerySet[Any, Any]"], ...] = ()
    """Functions that return a query of one value: when the earliest work is due.

    The value is a time or a date of the API.
    """
    threads: int = 1
    """How many threads may work at once. Source: our choice."""
    every_s: float | None = None
    """Seconds between two runs, the first when the worker starts. Replaces `due`."""


def work_through(
    take: Callable[[], T | None],
    act: Callable[[T], object],
    record_error: Callable[[T], object],
    *,
    stop: Event | None = None,
) -> int:
    """Act on one row after another until `take` returns None, or stopped; return how many.

    An error on one row doesn't affect others. An error of `take` ends the work: the database is
    unreachable.
    """
    count = 0
    while not (stop and stop.is_set()) and (row := take()) is not None:
        attempt(row, act, record_error)
        count += 1
    return count


def attempt_each(
    rows: Iterable[T],
    act: Callable[[T], ResultT],
    record_error: Callable[[T], object] = lambda _: None,
) -> list[ResultT]:
    """Act on each row; return the results. An error on one row doesn't stop the others."""
    results: list[ResultT] = []
    for row in rows:
        attempt(row, lambda row: results.append(act(row)), record_error)
    return results


def attempt(row: T, act: Callable[[T], object], record_error: Callable[[T], object]) -> None:
    """Act on a row. If that raises, log the error and have it recorded as a failed attempt."""
    # Some rows are functions.
    name = getattr(row, "__name__", None) or repr(row)
    try:
        act(row)
    except Exception:
        _logger.exception("Work on %s failed", name)
        close_lost_connections()
        try:
            record_error(row)
        except Exception:
            # A claim ends by itself, and then the row is tried again.
            _logger.exception("A failed attempt of %s could not be recorded", name)
            close_lost_connections()


def close_lost_connections() -> None:
    """Have a lost connection reopened. A connection within a transaction is left alone."""
    if not connection.in_atomic_block and not connection.is_usable():
        connection.close()
