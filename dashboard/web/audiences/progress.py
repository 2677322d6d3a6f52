"""Whether a version is in progress, for one audience and for the rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard import clock
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries.audiences import (
    first_seen_in_progress,
    in_progress_since,
    versions_seen,
)
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.service.health import CLOCK_TOLERANCE_S, service_time
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.audiences.table import AudienceRow


@dataclass(frozen=True)
class VersionInProgress:
    version: AudienceVersion
    lasted: timedelta | None
    """Time it has been in progress; None without a date."""

    @property
    def is_moving(self) -> bool:
        """Whether its page is read every few seconds. False if the version is stuck."""
        return self.lasted is None or self.lasted <= POLLING_PERIOD


def version_in_progress(head: AudienceHead, *, now: datetime) -> VersionInProgress | None:
    """Return the audience's version in progress, if any. Makes at most one query."""
    version = head.in_flight or _older_in_flight(head, now)
    if version is None:
        return None
    date = in_progress_since(version)
    lasted = _lasted(date, now)
    if date and lasted is None:  # The date is in the future.
        since = first_seen_in_progress(head.page_id, head.audience_id)
        lasted = max(now - since, timedelta()) if since else None
    return VersionInProgress(version, lasted)


def _lasted(since: datetime | None, now: datetime) -> timedelta | None:
    """Return the time since a date of the service; None if it is missing or in the future."""
    lasted = service_time(now) - since if since else None
    if lasted is None or lasted < -timedelta(seconds=CLOCK_TOLERANCE_S):
        return None
    return max(lasted, timedelta())


def _older_in_flight(head: AudienceHead, now: datetime) -> AudienceVersion | None:
    """Return an older version in flight, which the service hides until it is live."""
    if not head.has_version_in_flight:
        return None
    seen = versions_seen(head.page_id, head.audience_id).filter(status__in=IN_FLIGHT)
    record = seen.filter(last_seen_at__gt=now - POLLING_PERIOD).first()
    return record.version if record and not head.is_live(record.version) else None


def any_moving(rows: Iterable[AudienceRow]) -> bool:
    now = clock.now()
    return any(is_moving(row, now=now) for row in rows)


def is_moving(row: AudienceRow, *, now: datetime) -> bool:
    """Return whether a version is in progress and not stuck.

    Also true if an older version was recently seen in flight.
    """
    if row.is_in_progress:
        lasted = _lasted(in_progress_since(row.in_flight), now)
        return lasted is None or lasted <= POLLING_PERIOD
    seen_at = row.seen_in_flight_at
    return seen_at is not None and seen_at > now - POLLING_PERIOD
