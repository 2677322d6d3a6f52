"""Versions in progress: their state in the ledger, and polling the service for changes."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, F, When
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from django.utils import timezone

from dashboard.client import APIError
from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audiences_in_flight
from dashboard.service.clock import clock_ahead
from dashboard.service.reading import read_audiences

MAX_PAGES_PER_POLL = 3
"""The maximum number of pages that one poll reads, one after another. Our choice."""
MAX_MOVING, MAX_LATE = 8, 5
"""The maximum length of each list."""
FRESH = timedelta(seconds=4)
"""A page read this recently, perhaps for another user, is not read again."""


@dataclass(frozen=True)
class InFlightVersion:
    """One version in progress."""

    record: AudienceRecord
    lasted: timedelta
    """How long it has been in progress."""
    is_dated: bool
    """Whether the service gave the time; otherwise it counts from the change in the ledger."""


@dataclass(frozen=True)
class Flights:
    """Versions in progress: those within the typical time, and those that are late."""

    moving: list[InFlightVersion]
    late: list[InFlightVersion]
    moving_count: int
    late_count: int

    @property
    def count(self) -> int:
        """The number of all, late or not."""
        return self.moving_count + self.late_count

    @property
    def shown(self) -> list[InFlightVersion]:
        """All versions that are shown."""
        return self.moving + self.late


@dataclass(frozen=True)
class PollResult:
    """The result of polling the service."""

    changes: tuple[str, ...] = ()
    """One sentence for each version whose status has changed."""
    error: APIError | None = None


def load_flights(now: datetime, late_after: timedelta) -> Flights:
    """Return the versions in progress; those that take longer than `late_after` are late.

    At most four queries.
    """
    # If the service's clock is behind, its dates are older than they seem. If it is ahead, the
    # ledger counts from when the version was first seen.
    now += min(clock_ahead(), timedelta())
    late_before = now - late_after
    counts = dict(_COUNTS.rows(late_before))
    moving_count, late_count = counts.get(0, 0), counts.get(1, 0)
    moving = [row.pk for row in _MOVING.rows(late_before)] if moving_count else []
    late = [row.pk for row in _LATE.rows(late_before)] if late_count else []
    records = AudienceRecord.objects.in_bulk([*moving, *late]) if moving or late else {}
    return Flights(
        moving=[_in_flight(records[pk], now) for pk in moving],
        late=[_in_flight(records[pk], now) for pk in late],
        moving_count=moving_count,
        late_count=late_count,
    )


_COUNTS = CompiledQuery(
    lambda late_before: (
        audiences_in_flight()
        .order_by()
        .annotate(is_late=Case(When(since__lt=late_before, then=1), default=0))
        .values("is_late")
        .annotate(count=Count("pk"))
        .values_list("is_late", "count", named=True)
    )
)
_MOVING = CompiledQuery(
    lambda late_before: (
        audiences_in_flight()
        .filter(GreaterThanOrEqual(F("since"), late_before))
        .values_list("pk", named=True)[:MAX_MOVING]
    )
)
_LATE = CompiledQuery(
    lambda late_before: (
        audiences_in_flight()
        .filter(LessThan(F("since"), late_before))
        .values_list("pk", named=True)[:MAX_LATE]
    )
)


def _in_flight(record: AudienceRecord, now: datetime) -> InFlightVersion:
    since = record.in_progress_since
    return InFlightVersion(
        record, max(timedelta(), now - (since or record.changed_at)), since is not None
    )


def poll_service(flights: Flights) -> PollResult:
    """Read some of the pages of these versions again; stop if the service fails."""
    changes: list[str] = []
    records = [flight.record for flight in flights.shown]
    for page_id in _pages_to_read(flights):
        try:
            result = read_audiences(page_id)
        except APIError:
            continue
        if result.error:
            return PollResult(tuple(changes), result.error)
        before = {r.audience_id: r.latest_status for r in records if r.page_id == page_id}
        for audience in result.value.items:
            version, status = audience.latest_version, before.get(audience.audience_id or "")
            if version and status and version.status != status:
                name = audience.name or audience.audience_id
                changes.append(f"Version {version.version_number} of {name}: {version.status}.")
    return PollResult(tuple(changes))


def _pages_to_read(flights: Flights) -> list[str]:
    """Return the pages to read now, first those with versions expected to change."""
    fresh = timezone.now() - FRESH
    due = {f.record.page_id for f in flights.shown if f.record.last_seen_at < fresh}
    moving = {f.record.page_id for f in flights.moving if f.record.latest_status != "pending"}
    # In random order, so that a page that can't be read does not block the others.
    shuffled = random.sample(pages := sorted(due), len(pages))
    return sorted(shuffled, key=lambda page_id: page_id not in moving)[:MAX_PAGES_PER_POLL]
