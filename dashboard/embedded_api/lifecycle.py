"""The lifecycle of a version, computed from its dates on every read, without a worker.

pending → draft → queued → processing → published → archived; queued → cancelled.

Publishing writes all dates at once: when the version leaves the queue, when it goes live, and when
the previous live version is retired. Future dates are planned and never returned. When their time
comes, all their effects apply together. Source: our choice; the spec shows the states but no
transitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.wire import read_date, write_mark
from dashboard.embedded_api.ids import last_uuid7_of

KeyT = TypeVar("KeyT")
_TICK = timedelta(milliseconds=1)
STAGES = {
    "cancelled_at": VersionStatus.CANCELLED,
    "archived_at": VersionStatus.ARCHIVED,
    "published_at": VersionStatus.PUBLISHED,
    "processing_at": VersionStatus.PROCESSING,
    "queued_at": VersionStatus.QUEUED,
    "became_draft_at": VersionStatus.DRAFT,
}
"""The status after each date. The first date that was reached counts."""
_PUBLISHING = {VersionStatus.QUEUED, VersionStatus.PROCESSING, VersionStatus.PUBLISHED}


class CancelledVersionError(Exception):
    """A cancelled version can't be published."""


@dataclass(frozen=True)
class Dates:
    """The dates of a version as the API writes them. Future ones are planned."""

    became_draft_at: str | None = None
    queued_at: str | None = None
    processing_at: str | None = None
    published_at: str | None = None
    obsolete_at: str | None = None
    archived_at: str | None = None
    cancelled_at: str | None = None

    @classmethod
    def of(cls, row: Any) -> "Dates":
        return cls(*_dates_of(row))

    def at(self, now: datetime) -> "Dates":
        until = last_uuid7_of(now)
        planned = [name for name in DATE_NAMES if (getattr(self, name) or "") > until]
        return replace(self, **dict.fromkeys(planned)) if planned else self

    def status(self, now: datetime) -> VersionStatus:
        until = last_uuid7_of(now)
        reached = (
            status for name, status in STAGES.items() if (getattr(self, name) or "~") <= until
        )
        return next(reached, VersionStatus.PENDING)

    def queue_duration_ms(self, now: datetime) -> float | None:
        """Return the time in the queue in milliseconds; None until the version left the queue."""
        queued, left = read_date(self.queued_at), read_date(self.processing_at)
        return (left - queued) / _TICK if queued and left and left <= now else None


DATE_NAMES = tuple(field.name for field in fields(Dates))
"""Names of a version's dates, in chronological order."""
_dates_of = attrgetter(*DATE_NAMES)


def publish(
    versions: Mapping[KeyT, Dates],
    target: KeyT,
    *,
    now: datetime,
    queue: timedelta,
    processing: timedelta,
) -> dict[KeyT, Dates]:
    """Return the new dates of those versions of an audience that publishing `target` changes.

    `queue` and `processing` are the durations of these states. Nothing changes if the target is
    queued, processing or live. Another queued version is cancelled. A version that is processing
    goes live first. Raises CancelledVersionError.
    """
    status = versions[target].status(now)
    if status in _PUBLISHING:
        return {}
    if status is VersionStatus.CANCELLED:
        raise CancelledVersionError
    after = dict(versions)
    for key, dates in versions.items():
        if dates.status(now) is VersionStatus.QUEUED:
            after[key] = replace(
                dates, processing_at=None, published_at=None, cancelled_at=write_mark(now)
            )
    live = now + queue + processing
    if last := read_date(max(dates.published_at or "" for dates in after.values())):
        live = max(live, last + _TICK)
    # Drop the dates of an earlier publication.
    after[target] = Dates(
        became_draft_at=versions[target].became_draft_at,
        queued_at=write_mark(now),
        processing_at=write_mark(now + queue),
        published_at=write_mark(live),
    )
    after |= _retired(after, now)
    return {key: dates for key, dates in after.items() if dates != versions[key]}


def _retired(versions: Mapping[KeyT, Dates], now: datetime) -> dict[KeyT, Dates]:
    """Retire every live or planned version at the mark when the next one goes live."""
    alive = [
        key
        for key, dates in versions.items()
        if dates.published_at and not dates.at(now).archived_at
    ]
    alive.sort(key=lambda key: versions[key].published_at or "")
    marks = [*(versions[key].published_at for key in alive[1:]), None]
    return {
        key: replace(versions[key], obsolete_at=mark, archived_at=mark)
        for key, mark in zip(alive, marks, strict=True)
    }
