"""Kinds of work of `manage.py worker`: each room defines its own.

No row and no task can stop another, whatever it raises: that is logged, and recorded by the room as
a failed attempt, with a back-off and an end.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from django.db import close_old_connections, transaction
from django.db.models import QuerySet

T = TypeVar("T")

_logger = logging.getLogger("dashboard.worker")


@dataclass(frozen=True)
class WorkerTask:
    """A kind of work. It runs in threads of its own, and delays no other."""

    run: Callable[[str, Event], object]
    """Do what is due, with the id of the worker, until stopped. Errors are logged."""
    due: tuple[Callable[[], "QuerySet[Any, Any]"], ...] = ()
    """Return a query of one row and column: the time, or date of the API, of the earliest work."""
    threads: int = 1
    """How many may do what is due at once. Source: our choice."""
    every_s: float | None = None
    """Instead of queries: how often it runs, beginning when the worker starts."""


def work_through(
    take: Callable[[], T | None],
    act: Callable[[T], object],
    record_error: Callable[[T], object],
    *,
    stop: Event | None = None,
) -> int:
    """Act on one row after another until `take` returns none, or stopped; return how many.

    An error of a row is its own. One of `take` ends the work: the database is away.
    """
    count = 0
    while not (stop and stop.is_set()) and (row := take()) is not None:
        attempt(row, act, record_error)
        count += 1
    return count


def attempt_each(
    rows: Iterable[T],
    act: Callable[[T], object],
    record_error: Callable[[T], object] = lambda _: None,
) -> None:
    """Act on each row; an error of one stops no other."""
    for row in rows:
        attempt(row, act, record_error)


def attempt(row: T, act: Callable[[T], object], record_error: Callable[[T], object]) -> None:
    """Act on a row. If that raises, log it, and have it recorded as a failed attempt."""
    try:
        act(row)
    except Exception:
        _logger.exception("Work on %r failed", row)
        close_lost_connections()
        try:
            record_error(row)
        except Exception:
            # A claim ends by itself, and then the row is tried again.
            _logger.exception("A failed attempt of %r could not be recorded", row)
            close_lost_connections()


def close_lost_connections() -> None:
    """Have a connection that was lost opened again; not one in a transaction of our caller."""
    if not transaction.get_connection().in_atomic_block:
        close_old_connections()
