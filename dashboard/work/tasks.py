"""Kinds of work of `manage.py worker`: each room defines its own."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

from django.db.models import QuerySet


@dataclass(frozen=True)
class WorkerTask:
    """A kind of work. It runs in a thread of its own, and delays no other."""

    run: Callable[[str, Event], object]
    """Do what is due, with the id of the worker, until stopped. Errors are logged."""
    due: tuple[Callable[[], "QuerySet[Any, Any]"], ...] = ()
    """Return a query of one row and column: the time, or date of the API, of the earliest work."""
    every_s: float | None = None
    """Instead of queries: how often it runs, beginning when the worker starts."""
