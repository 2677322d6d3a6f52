"""How long publishing takes here, from queued to published, by the versions seen."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.models import VersionRecord

LOOKED_AT = 200
"""How many of the versions seen last are looked at to say what is usual."""
CHARTED = 1_000
"""How many of them at most make a chart."""
ENOUGH = 5
"""Below this many, nothing is called usual."""
WENT_LIVE = ("published", "archived")


@dataclass(frozen=True)
class UsualTimes:
    """How long versions took from queued to published."""

    half: timedelta
    """Half were live within this time."""
    most: timedelta
    """95 in 100 were."""
    seen: int


@dataclass(frozen=True)
class QueueTime:
    """How long one version took, by the service's own dates."""

    published_at: datetime
    took: timedelta


def usual_times() -> UsualTimes | None:
    """Return how long publishing took lately; None where too few were seen to say."""
    return usual_of(record.version for record in _seen_last(LOOKED_AT))


def usual_of(versions: Iterable[AudienceVersion]) -> UsualTimes | None:
    """Return what is usual among these; versions without both dates in order do not count."""
    took = sorted(time.took for version in versions if (time := queue_time(version)))
    if len(took) < ENOUGH:
        return None
    return UsualTimes(
        half=took[(len(took) - 1) // 2], most=took[(len(took) - 1) * 95 // 100], seen=len(took)
    )


def queue_times(since: datetime) -> list[QueueTime]:
    """Return how long the versions published since then took; of very many, those seen last."""
    times = [queue_time(record.version) for record in _seen_last(CHARTED, since=since)]
    return [time for time in times if time and time.published_at >= since]


def queue_time(version: AudienceVersion) -> QueueTime | None:
    """Return how long a version took; None where it lacks a date, or they are out of order."""
    queued, published = read_date(version.queued_at), read_date(version.published_at)
    if not queued or not published or published < queued:
        return None
    return QueueTime(published, published - queued)


def _seen_last(count: int, *, since: datetime | None = None) -> Iterable[VersionRecord]:
    records = VersionRecord.objects.filter(status__in=WENT_LIVE)
    if since:
        # What was published since then was seen since then.
        records = records.filter(last_seen_at__gte=since)
    return records.only("body").order_by("-last_seen_at")[:count]
