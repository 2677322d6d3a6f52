"""Typical publishing times, from queued to published, of the versions seen."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from django.core.cache import cache
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.models import VersionRecord

MAX_VERSIONS = 1_000
"""Only the latest versions are read."""
MIN_VERSIONS = 5
"""With fewer, no time is called typical."""
WENT_LIVE = ("published", "archived")
ValueT = TypeVar("ValueT", float, timedelta)


@dataclass(frozen=True)
class TypicalTimes:
    """How long versions took from queued to published."""

    median: timedelta
    p95: timedelta
    count: int
    """The number of versions."""


@dataclass(frozen=True)
class QueueTime:
    """How long one version took, by the service's dates."""

    published_at: datetime
    duration: timedelta


def summarize_times(times: Iterable[QueueTime]) -> TypicalTimes | None:
    """Return the typical times; None if there are too few."""
    durations = sorted(time.duration for time in times)
    median, p95 = percentile(durations, 0.5), percentile(durations, 0.95)
    if median is None or p95 is None or len(durations) < MIN_VERSIONS:
        return None
    return TypicalTimes(median, p95, count=len(durations))


def percentile(values: Sequence[ValueT], share: float) -> ValueT | None:
    """Return the smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _load_queue_times(since: datetime) -> list[QueueTime]:
    """Return the times of versions published since then, at most of the latest MAX_VERSIONS."""
    # A version published since then was seen since then.
    seen = VersionRecord.objects.filter(status__in=WENT_LIVE, last_seen_at__gte=since)
    records = seen.only("body").order_by("-last_seen_at")[:MAX_VERSIONS]
    times = [queue_time(record.version) for record in records]
    return [time for time in times if time and time.published_at >= since]


def queue_time(version: AudienceVersion) -> QueueTime | None:
    """Return the time of a version; None if a date is missing or they are out of order."""
    queued, published = read_date(version.queued_at), read_date(version.published_at)
    if not queued or not published or published < queued:
        return None
    return QueueTime(published, published - queued)


CACHE_S = 60
DAYS = 14
"""Shown in charts, today included."""


def typical_times(today: date) -> TypicalTimes | None:
    """Return the typical times of the 14 days up to today; None if there are too few."""
    return summarize_times(recent_queue_times(today))


def recent_queue_times(today: date) -> list[QueueTime]:
    """Return the times of versions published in the 14 days up to today, cached.

    `today` is the viewer's, read once a request: midnight may pass in the middle of it.
    """
    since = start_of_day(first_day(today))
    # The first day starts at another time in another zone.
    key = f"queue-times:1:{since:%Y%m%d%H%M%z}"
    try:
        return [
            QueueTime(datetime.fromtimestamp(published, UTC), timedelta(seconds=took))
            for published, took in cache.get(key)
        ]
    except (TypeError, ValueError, OverflowError, OSError):
        # Nothing is cached, or what another release cached.
        times = _load_queue_times(since)
    numbers = [(one.published_at.timestamp(), one.duration.total_seconds()) for one in times]
    cache.set(key, numbers, timeout=CACHE_S)
    return times


def first_day(today: date) -> date:
    """Return the first day that the charts show."""
    return today - timedelta(days=DAYS - 1)


def start_of_day(day: date) -> datetime:
    """Return midnight of a day, in the viewer's time zone."""
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001
