"""Progress of a publish: its stage, its steps, when it is polled, and how long it usually takes.

Pure, except for the typical times from queued to published, which come from the versions seen.
"""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from django.core.cache import cache
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.wire import read_date
from dashboard.ledger.models import Operation, VersionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.states import VersionState
from dashboard.operations.checking import VersionSnapshot

DEFAULT_LONG = timedelta(minutes=2)
POLLING_PERIOD = timedelta(minutes=30)
"""How long the browser polls after a publish."""
MIN_POLL_INTERVAL_S, MAX_POLL_INTERVAL_S = 1, 10
RARE_POLL_INTERVAL_S = 60
"""Seconds between polls for a version in progress for longer than POLLING_PERIOD."""
MAX_POLLS = 40
"""Polls without news before polling stops, for such a version or one without a date."""

MAX_VERSIONS = 1_000
"""Number of the latest versions whose times are summarized."""
MIN_VERSIONS = 5
"""With fewer versions, no time is called typical."""
DAYS = 14
"""Days that typical times and charts cover, including today."""
CACHE_S = 60
WENT_LIVE = ("published", "archived")
ValueT = TypeVar("ValueT", float, timedelta)


class Stage(StrEnum):
    SENDING = "sending"
    """No response yet."""
    UNKNOWN = "unknown"
    """No usable response."""
    IN_PROGRESS = "in progress"
    LIVE = "live"
    REPLACED = "replaced"
    """It went live, and later another version did."""
    OVERTAKEN = "overtaken"
    """Another version, requested later, is live, and the service no longer returns this one."""
    CANCELLED = "cancelled"
    ARCHIVED = "archived"


STEPS = (VersionState.DRAFT, VersionState.QUEUED, VersionState.PROCESSING, VersionState.LIVE)
_ENDED_UNPUBLISHED = {
    Stage.OVERTAKEN: ("Overtaken", VersionState.SUPERSEDED.icon),
    Stage.CANCELLED: (VersionState.CANCELED.label, VersionState.CANCELED.icon),
    Stage.ARCHIVED: (VersionState.ARCHIVED.label, VersionState.ARCHIVED.icon),
}
"""Stages that end a publish before its version was live, each with its label and icon."""
FINAL = (Stage.LIVE, Stage.REPLACED, *_ENDED_UNPUBLISHED)


HEADLINES = {
    Stage.SENDING: "Sending {name}",
    Stage.UNKNOWN: "We don’t know if {name} was published",
    Stage.IN_PROGRESS: "Publishing {name}",
    Stage.LIVE: "{name} is live",
    Stage.REPLACED: "{name} went live and was replaced",
    Stage.OVERTAKEN: "{name} was overtaken",
    Stage.CANCELLED: "{name} was canceled",
    Stage.ARCHIVED: "{name} was archived",
}


ROLLBACK_HEADLINES = HEADLINES | {
    Stage.UNKNOWN: "We don’t know if {name} was rolled back to",
    Stage.IN_PROGRESS: "Rolling back to {name}",
    Stage.LIVE: "{name} is live again",
}


@dataclass(frozen=True)
class ProgressStep:
    """One step of the stepper. `state` is done, now or todo."""

    label: str
    icon: str
    state: str
    at: datetime | None = None


@dataclass(frozen=True)
class TypicalTimes:
    median: timedelta
    p95: timedelta
    count: int


@dataclass(frozen=True)
class QueueTime:
    """How long one version took, by the service's dates."""

    published_at: datetime
    duration: timedelta


@dataclass(frozen=True)
class PublishProgress:
    stage: Stage
    status: str
    """The version's status at the service; empty if unknown."""
    steps: list[ProgressStep]
    elapsed: timedelta
    """Time from the request to the end, or to now."""
    is_long: bool
    """Whether it takes longer than is typical."""
    next_poll_s: int | None
    """Seconds until the next poll; None to stop polling."""

    name: str
    """Name of the version, such as "version 7"."""
    is_rollback: bool = False

    @property
    def is_final(self) -> bool:
        return self.stage in FINAL

    @property
    def headline(self) -> str:
        headlines = ROLLBACK_HEADLINES if self.is_rollback else HEADLINES
        headline = headlines[self.stage].format(name=self.name)
        return headline[0].upper() + headline[1:]


def publish_progress(
    operation: Operation, snapshot: VersionSnapshot, *, usual: TypicalTimes | None, now: datetime
) -> PublishProgress:
    requested_at, version = operation.requested_at, snapshot.version
    stage = _stage(operation, snapshot)
    ended_at = _ended_at(stage, version, requested_at) if stage in FINAL else now
    elapsed = max(ended_at - requested_at, timedelta())
    longest = usual.p95 if usual else DEFAULT_LONG
    return PublishProgress(
        stage=stage,
        status=version.status if version else "",
        steps=_steps(stage, version),
        elapsed=elapsed,
        is_long=stage not in FINAL and elapsed > longest,
        next_poll_s=None if stage in FINAL else poll_interval_s(elapsed),
        name=f"version {version.version_number}" if version else "this version",
        is_rollback=operation.is_rollback,
    )


def poll_interval_s(elapsed: timedelta) -> int | None:
    """Return the seconds until the next poll: a fifth of the elapsed time, from 1 to 10.

    Returns None to stop polling.
    """
    if elapsed > POLLING_PERIOD:
        return None
    return round(min(MAX_POLL_INTERVAL_S, max(MIN_POLL_INTERVAL_S, elapsed.total_seconds() / 5)))


def version_poll_interval_s(elapsed: timedelta | None, polls: int) -> int | None:
    """Return the seconds until the next poll for a version in progress; None to stop polling.

    `elapsed` is None if no date says how long it has been in progress. `polls` counts the polls
    without news.
    """
    wait_s = MAX_POLL_INTERVAL_S if elapsed is None else poll_interval_s(elapsed)
    if elapsed is not None and wait_s:
        return wait_s
    return (wait_s or RARE_POLL_INTERVAL_S) if polls < MAX_POLLS else None


def _stage(operation: Operation, snapshot: VersionSnapshot) -> Stage:
    version, live = snapshot.version, snapshot.live
    if operation.outcome == Outcome.SENDING:
        return Stage.SENDING
    if operation.outcome == Outcome.UNKNOWN:
        return Stage.UNKNOWN
    if version is None:
        return Stage.IN_PROGRESS
    if live and live.version_id == version.version_id:
        return Stage.LIVE
    if stage := _stage_by_status(version, live, operation.requested_at):
        return stage
    live_at = None
    if live:
        # A live version that was queued earlier goes live first, and doesn't overtake this one.
        live_at = live.queued_at if read_date(live.queued_at) else live.published_at
    # The service returns only the latest and the live version: an earlier version appears once it
    # is live.
    is_overtaken = not snapshot.is_returned and _is_since(live_at, operation.requested_at)
    return Stage.OVERTAKEN if is_overtaken else Stage.IN_PROGRESS


def _stage_by_status(
    version: AudienceVersion, live: AudienceVersion | None, requested_at: datetime
) -> Stage | None:
    """Return the stage that follows from the version's own status; None if it is in progress."""
    status, published_at = version.status, read_date(version.published_at)
    if status == VersionStatus.CANCELLED:
        return Stage.CANCELLED
    is_replaced = live and published_at and _is_since(live.published_at, published_at)
    if status == VersionStatus.PUBLISHED and not is_replaced:
        return Stage.LIVE
    went_live = _is_since(version.published_at, requested_at)
    if status in (VersionStatus.PUBLISHED, VersionStatus.ARCHIVED) and went_live:
        return Stage.REPLACED
    if status == VersionStatus.ARCHIVED and _is_since(version.archived_at, requested_at):
        return Stage.ARCHIVED
    return None


def _steps(stage: Stage, version: AudienceVersion | None) -> list[ProgressStep]:
    if version is None:
        return [ProgressStep(step.label, step.icon, "todo") for step in STEPS]
    is_live = stage in (Stage.LIVE, Stage.REPLACED)
    dates: list[str | None] = [
        version.became_draft_at or version.created_at,
        version.queued_at,
        None,
        version.published_at if is_live else None,
    ]
    steps = [(step.label, step.icon, date) for step, date in zip(STEPS, dates, strict=True)]
    # Publishing an earlier version starts over, whatever its status was.
    done = {VersionStatus.QUEUED.value: 1, VersionStatus.PROCESSING.value: 2}.get(version.status, 0)
    if is_live:
        done = 4
    elif stage in _ENDED_UNPUBLISHED:
        ended_at = getattr(version, f"{stage.value}_at", None)
        label, shape = _ENDED_UNPUBLISHED[stage]
        steps, done = [*steps[:2], (label, shape, ended_at)], 2
    states = [*["done"] * done, "now", *["todo"] * 3]
    return [
        ProgressStep(label, shape, state, read_date(date))
        for (label, shape, date), state in zip(steps, states, strict=False)
    ]


def _ended_at(stage: Stage, version: AudienceVersion | None, requested_at: datetime) -> datetime:
    """Return when the version reached a final stage, or the request's time if no date says so."""
    name = "published" if stage in (Stage.LIVE, Stage.REPLACED) else stage.value
    end = read_date(getattr(version, f"{name}_at", None))
    return end if end and end >= requested_at else requested_at


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at


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


def queue_time(version: AudienceVersion) -> QueueTime | None:
    """Return the time of a version; None if a date is missing or they are out of order."""
    queued, published = read_date(version.queued_at), read_date(version.published_at)
    if not queued or not published or published < queued:
        return None
    return QueueTime(published, published - queued)


def typical_times(today: date) -> TypicalTimes | None:
    """Return the typical times of the 14 days up to today; None if there are too few."""
    return summarize_times(recent_queue_times(today))


def recent_queue_times(today: date) -> list[QueueTime]:
    """Return the times of versions published in the 14 days up to today, cached.

    `today` is the viewer's date. It is read once per request, as midnight may pass meanwhile.
    """
    since = start_of_day(first_day(today))
    # The key has the offset: the first day starts at a different time in each time zone.
    key = f"queue-times:1:{since:%Y%m%d%H%M%z}"
    # The cache may be empty, or filled by another release of Pressroom.
    with suppress(TypeError, ValueError, OverflowError, OSError):
        return [
            QueueTime(datetime.fromtimestamp(published, UTC), timedelta(seconds=took))
            for published, took in cache.get(key)
        ]
    # A version published since then was seen since then.
    records = VersionRecord.objects.filter(status__in=WENT_LIVE, last_seen_at__gte=since)
    newest = records.only("body").order_by("-last_seen_at")[:MAX_VERSIONS]
    of_versions = [queue_time(record.version) for record in newest]
    times = [time for time in of_versions if time and time.published_at >= since]
    numbers = [
        (publish.published_at.timestamp(), publish.duration.total_seconds()) for publish in times
    ]
    cache.set(key, numbers, timeout=CACHE_S)
    return times


def first_day(today: date) -> date:
    return today - timedelta(days=DAYS - 1)


def start_of_day(day: date) -> datetime:
    """Return midnight of a day, in the viewer's time zone."""
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001
