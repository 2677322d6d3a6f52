"""Outages of the service, shared by all processes: a single row, and entries in the feed.

`health.py` counts the calls. An outage begins with the third failure in a row, and ends with the
first response that any process receives.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from django.core.cache import cache
from django.db import Error, transaction
from pydantic import TypeAdapter, ValidationError

from dashboard.clock import call_limit
from dashboard.ledger import feed
from dashboard.ledger.models import AudienceRecord, FeedEntry, FeedKind, ServiceState
from dashboard.work.tasks import close_lost_connections

CACHE_KEY = "service:outage:1"
CACHE_S = 3
"""Seconds that the outage is cached, as every page shows it. Source: our choice.

A page may lag behind another process by as much.
"""
CHECKED_EVERY = timedelta(minutes=1)
"""How often a worker checks whether an outage is over."""
NOTED_EVERY = timedelta(seconds=20)
"""Least time between two recorded failures of an outage."""
SETTLES_IN = timedelta(seconds=30)
"""Time after an outage in which no other one begins. Source: our choice.

Otherwise, if a single process can't reach the service, outages would begin and end all the time.
"""

_logger = logging.getLogger("dashboard.service")


class Outage(NamedTuple):
    """The service can't be used: nothing can be changed, and pages show the last known state."""

    reason: str
    """Why the last call failed, as a sentence."""
    failed_at: datetime
    responded_at: datetime | None
    """When the service last responded or was last read; None if never."""

    @property
    def next_check_at(self) -> datetime:
        """The latest time at which a worker checks whether the outage is over."""
        return self.failed_at + CHECKED_EVERY

    @property
    def mark(self) -> str:
        """Return a text that changes with each recorded failure, for the poll of a page."""
        return f"{self.failed_at.timestamp():.0f}"


_CACHED = TypeAdapter(list[Outage])


def forgotten_after() -> timedelta:
    """Return how long a failure counts without a check. After a longer gap, nothing is known."""
    return 2 * (CHECKED_EVERY + call_limit())


def current_outage(cached: object = None) -> Outage | None:
    """Return the recorded outage; None if there is none or if the database fails.

    `cached` is the cache's value of CACHE_KEY, or None to read the database.
    """
    outages: list[Outage] = []
    try:
        outages = _CACHED.validate_python(cached)
    except ValidationError:  # Nothing is cached, or another release cached another format.
        with _logged_errors():
            outages = [
                Outage(state.reason, state.failed_at, state.responded_at)
                for state in ServiceState.objects.all()
                if state.is_out and state.failed_at
            ]
            cache.set(CACHE_KEY, [tuple(outage) for outage in outages], timeout=CACHE_S)
    return outages[0] if outages else None


def note_response(now: datetime, cached: object = None) -> None:
    """End the outage, if there is one. `cached` is as for `current_outage`."""
    if current_outage(cached) is None:
        return
    with _logged_errors(), transaction.atomic():
        if ServiceState.objects.exclude(began_at=None).filter(ended_at=None).update(ended_at=now):
            feed.add(FeedEntry(kind=FeedKind.SERVICE))
    cache.delete(CACHE_KEY)


def note_failure(
    now: datetime, reason: str, responded_at: datetime | None = None, *, cached: object = None
) -> None:
    """Begin an outage, or record that it continues. `cached` is as for `current_outage`."""
    outage = current_outage(cached)
    if outage and timedelta() <= now - outage.failed_at < NOTED_EVERY:
        return
    with _logged_errors(), transaction.atomic():
        state, _ = ServiceState.objects.select_for_update().get_or_create(pk=1)
        was_out = state.is_out
        if not begin_or_continue(state, now):
            return
        state.failed_at, state.reason = now, reason
        if not was_out:
            state.responded_at = responded_at or _last_read_at()
            feed.add(FeedEntry(kind=FeedKind.SERVICE))
        state.save()
    cache.delete(CACHE_KEY)


def begin_or_continue(state: ServiceState, now: datetime) -> bool:
    """Update `state` after a failure, and return whether the service is out."""
    if state.is_out:
        if state.failed_at and now - state.failed_at > forgotten_after():
            state.began_at, state.is_reported = now, False
        return True
    if state.ended_at and now - state.ended_at < SETTLES_IN:
        return False
    # An outage whose end is not yet reported continues.
    state.began_at = state.began_at if state.is_reported else now
    state.ended_at = None
    return True


def _last_read_at() -> datetime | None:
    last = AudienceRecord.objects.order_by("-last_seen_at").values_list("last_seen_at", flat=True)
    return last.first()


@contextmanager
def _logged_errors() -> Iterator[None]:
    """Log a database error instead of raising it, so that a page is still shown."""
    try:
        yield
    except Error:
        _logger.exception("Whether the service is out could not be read or recorded")
        close_lost_connections()
