"""The lifecycle of a version, computed from its dates on every read; there is no worker.

pending → draft → queued → processing → published → archived; queued → cancelled.

Publishing writes all dates at once: when the version leaves the queue, when it goes live, and when
the previous live version is retired. Future dates are planned and never returned; at that time all
their effects apply together. Source: DESIGN.md; the spec shows the states but no transitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.dates import read_date, write_mark
from dashboard.embedded_api.ids import last_uuid7_of

KeyT = TypeVar("KeyT")
_TICK = timedelta(milliseconds=1)
_PUBLISHING = {VersionStatus.QUEUED, VersionStatus.PROCESSING, VersionStatus.PUBLISHED}


class CancelledVersionError(Exception):
    """A cancelled version can't be published."""


@dataclass(frozen=True)
class Delays:
    """The durations of queueing and processing."""

    queue: timedelta
    processing: timedelta


@dataclass(frozen=True)
class Dates:
    """The dates of one version, as the API writes them; future ones are planned."""

    became_draft_at: str | None = None
    queued_at: str | None = None
    processing_at: str | None = None
    published_at: str | None = None
    obsolete_at: str | None = None
    archived_at: str | None = None
    cancelled_at: str | None = None

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """Return the names of the dates in chronological order."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def of(cls, row: Any) -> "Dates":
        """Return the dates of a version's row."""
        return cls(*_dates_of(row))

    def at(self, now: datetime) -> "Dates":
        """Return the dates without the planned ones."""
        until = last_uuid7_of(now)
        planned = [name for name in self.names() if (getattr(self, name) or "") > until]
        return replace(self, **dict.fromkeys(planned)) if planned else self

    def status(self, now: datetime) -> VersionStatus:
        """Return the status of the latest date."""
        until = last_uuid7_of(now)
        stages = (
            (self.cancelled_at, VersionStatus.CANCELLED),
            (self.archived_at, VersionStatus.ARCHIVED),
            (self.published_at, VersionStatus.PUBLISHED),
            (self.processing_at, VersionStatus.PROCESSING),
            (self.queued_at, VersionStatus.QUEUED),
            (self.became_draft_at, VersionStatus.DRAFT),
        )
        reached = (status for date, status in stages if date and date <= until)
        return next(reached, VersionStatus.PENDING)

    def queue_duration_ms(self, now: datetime) -> float | None:
        """Return the time in the queue in milliseconds, or None until it has left the queue."""
        queued, left = read_date(self.queued_at), read_date(self.processing_at)
        return (left - queued) / _TICK if queued and left and left <= now else None


_dates_of = attrgetter(*Dates.names())


def publish(
    versions: Mapping[KeyT, Dates], target: KeyT, *, now: datetime, delays: Delays
) -> dict[KeyT, Dates]:
    """Return the new dates of the versions of an audience that change when publishing `target`.

    Nothing changes if the target is queued, processing or live. Another queued version is
    cancelled; one that is processing goes live first. Raises CancelledVersionError.
    """
    status = {key: dates.status(now) for key, dates in versions.items()}
    if status[target] in _PUBLISHING:
        return {}
    if status[target] is VersionStatus.CANCELLED:
        raise CancelledVersionError
    queued = [key for key in versions if status[key] is VersionStatus.QUEUED]
    after = {**versions, **{key: _cancelled(versions[key], now) for key in queued}}
    after[target] = _queued(versions[target], now, delays, after=_last_publication(after))
    after = _retire_predecessors(after, now)
    return {key: dates for key, dates in after.items() if dates != versions[key]}


def _cancelled(dates: Dates, now: datetime) -> Dates:
    return replace(dates, processing_at=None, published_at=None, cancelled_at=write_mark(now))


def _queued(dates: Dates, now: datetime, delays: Delays, *, after: datetime | None) -> Dates:
    """Plan a publication after all planned ones, and drop the dates of an earlier publication."""
    live = now + delays.queue + delays.processing
    return Dates(
        became_draft_at=dates.became_draft_at,
        queued_at=write_mark(now),
        processing_at=write_mark(now + delays.queue),
        published_at=write_mark(max(live, after + _TICK) if after else live),
    )


def _last_publication(versions: Mapping[KeyT, Dates]) -> datetime | None:
    return read_date(max((dates.published_at or "" for dates in versions.values()), default=""))


def _retire_predecessors(versions: Mapping[KeyT, Dates], now: datetime) -> dict[KeyT, Dates]:
    """Retire every live or planned version at the mark at which the next one goes live."""
    alive = [
        (dates.published_at, key)
        for key, dates in versions.items()
        if dates.published_at and not dates.at(now).archived_at
    ]
    alive.sort(key=lambda pair: pair[0])
    successors = [*(mark for mark, _ in alive[1:]), None]
    retired = {
        key: replace(versions[key], obsolete_at=mark, archived_at=mark)
        for (_, key), mark in zip(alive, successors, strict=True)
    }
    return {**versions, **retired}
