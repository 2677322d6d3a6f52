"""Versions in progress: load them from the ledger, read them again from the service."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Q
from django.db.models.lookups import LessThan

from dashboard import clock
from dashboard.client import APIError
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audiences_in_flight
from dashboard.service.health import clock_ahead
from dashboard.service.reading import read_audiences
from dashboard.web.ui.query_params import int_param
from dashboard.webhooks.hints import followed_pages

MAX_PAGES_PER_POLL = 3
"""How many pages one poll reads at most. Source: our choice."""
MAX_MOVING, MAX_LATE = 8, 5
"""How many versions each list shows at most."""
FRESH = timedelta(seconds=4)
"""A page read this recently, perhaps for another user, is not read again."""


@dataclass(frozen=True)
class InFlightVersion:
    record: AudienceRecord
    lasted: timedelta
    """Time it has been in progress."""
    is_dated: bool
    """Whether `lasted` counts from the service's time; if not, from the change in the ledger."""


@dataclass(frozen=True)
class VersionsInFlight:
    """Versions in progress, split into those within the typical time and those that are late."""

    moving: list[InFlightVersion]
    late: list[InFlightVersion]
    moving_count: int
    late_count: int

    @property
    def count(self) -> int:
        """The number of versions in progress, late or not."""
        return self.moving_count + self.late_count

    @property
    def versions(self) -> list[InFlightVersion]:
        """The listed versions, moving ones first; the rest are only counted."""
        return self.moving + self.late

    @property
    def marks(self) -> str:
        """The displayed statuses, as a URL parameter for `changes_since`."""
        records = [version.record for version in self.versions]
        return ".".join(f"{record.pk}-{record.latest_status}" for record in records)


@dataclass(frozen=True)
class PollResult:
    changes: tuple[str, ...] = ()
    """One sentence for each version whose status has changed."""
    error: APIError | None = None


def load_versions_in_flight(now: datetime, late_after: timedelta) -> VersionsInFlight:
    """Return the versions in progress. A version that takes longer than `late_after` is late.

    Makes at most three queries.
    """
    # If the service's clock is behind, its dates are older than they seem. If it is ahead, the
    # ledger counts from when the version was first seen.
    now += min(clock_ahead(), timedelta())
    late_before = now - late_after
    versions, is_late = audiences_in_flight(), LessThan(F("since"), late_before)
    counts = versions.aggregate(total=Count("pk"), late=Count("pk", filter=is_late))
    late_count, moving_count = counts["late"], counts["total"] - counts["late"]
    moving = versions.filter(~Q(is_late))[:MAX_MOVING] if moving_count else []
    late = versions.filter(is_late)[:MAX_LATE] if late_count else []
    return VersionsInFlight(
        moving=[_in_flight(record, now) for record in moving],
        late=[_in_flight(record, now) for record in late],
        moving_count=moving_count,
        late_count=late_count,
    )


def _in_flight(record: AudienceRecord, now: datetime) -> InFlightVersion:
    since = record.in_progress_since
    return InFlightVersion(
        record, max(timedelta(), now - (since or record.changed_at)), since is not None
    )


def read_again(page_ids: list[str]) -> APIError | None:
    """Read the audiences of these pages again; return the error that stopped it, if any."""
    for page_id in page_ids:
        try:
            result = read_audiences(page_id)
        except APIError:
            continue
        if result.error:
            return result.error
    return None


def changes_since(marks: str) -> tuple[str, ...]:
    """Return a sentence for each version whose status is not the one in `marks`."""
    if not marks:
        return ()
    statuses = {
        int_param(pk): status
        for pk, _, status in (mark.partition("-") for mark in marks.split("."))
    }
    records = AudienceRecord.objects.filter(pk__in=[*statuses][: MAX_MOVING + MAX_LATE])
    return tuple(
        f"Version {record.latest_version_number} of {record}: {record.latest_status}."
        for record in records
        if record.latest_status != statuses[record.pk]
    )


def pages_to_read(in_flight: VersionsInFlight) -> list[str]:
    """Return the pages to read now. Pages whose versions should change soon come first."""
    now = clock.now()
    old = {f.record.page_id for f in in_flight.versions if f.record.last_seen_at < now - FRESH}
    due = old - followed_pages(old, now).keys()
    moving = {f.record.page_id for f in in_flight.moving if f.record.latest_status != "pending"}
    # In random order, so that a page that can't be read does not block the others.
    shuffled = random.sample(pages := sorted(due), len(pages))
    return sorted(shuffled, key=lambda page_id: page_id not in moving)[:MAX_PAGES_PER_POLL]
