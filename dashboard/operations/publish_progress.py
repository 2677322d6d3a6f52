"""Progress of a publish: its stage, its steps, and the interval of polls. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.checking import VersionSnapshot
from dashboard.operations.typical_times import TypicalTimes

DEFAULT_LONG = timedelta(minutes=2)
POLLING_PERIOD = timedelta(minutes=30)
"""How long the browser polls after a publish."""
MIN_POLL_INTERVAL_S, MAX_POLL_INTERVAL_S = 1, 10
RARE_POLL_INTERVAL_S = 60
"""Between polls for a version in progress for longer than POLLING_PERIOD."""
MAX_POLLS = 40
"""Polls without news for such a version, or for one without a date, before polling stops."""


class Stage(StrEnum):
    """The stage of a publish."""

    SENDING = "sending"
    """No response yet."""
    UNKNOWN = "unknown"
    """No usable response."""
    IN_PROGRESS = "in progress"
    LIVE = "live"
    REPLACED = "replaced"
    """It went live, and another version did later."""
    OVERTAKEN = "overtaken"
    """Another was requested later and is live, and the service no longer returns this one."""
    CANCELLED = "cancelled"
    ARCHIVED = "archived"


_ENDED_UNPUBLISHED = (Stage.OVERTAKEN, Stage.CANCELLED, Stage.ARCHIVED)
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


@dataclass(frozen=True)
class ProgressStep:
    """One step of the stepper. `state` is done, now or todo."""

    label: str
    state: str
    at: datetime | None = None


@dataclass(frozen=True)
class Progress:
    """The progress of a publish."""

    stage: Stage
    status: str
    """The version's status at the service; empty if unknown."""
    steps: list[ProgressStep]
    elapsed: timedelta
    """From the request to the end, or to now."""
    is_long: bool
    """Whether it takes longer than is typical."""
    next_poll_s: int | None
    """Seconds until the next poll; None to stop polling."""

    name: str
    """Such as "version 7"."""

    @property
    def is_final(self) -> bool:
        """Whether the stage can no longer change."""
        return self.stage in FINAL

    @property
    def headline(self) -> str:
        """The stage, in a few words."""
        headline = HEADLINES[self.stage].format(name=self.name)
        return headline[0].upper() + headline[1:]


def publish_progress(
    operation: Operation, snapshot: VersionSnapshot, *, usual: TypicalTimes | None, now: datetime
) -> Progress:
    """Return the progress of a recorded publish, from a snapshot of its version."""
    requested_at, version = operation.requested_at, snapshot.version
    stage = _stage(operation, snapshot)
    ended_at = _ended_at(stage, version, requested_at) if stage in FINAL else now
    elapsed = max(ended_at - requested_at, timedelta())
    longest = usual.p95 if usual else DEFAULT_LONG
    return Progress(
        stage=stage,
        status=version.status if version else "",
        steps=_steps(stage, version),
        elapsed=elapsed,
        is_long=stage not in FINAL and elapsed > longest,
        next_poll_s=None if stage in FINAL else poll_interval_s(elapsed),
        name=f"version {version.version_number}" if version else "this version",
    )


def poll_interval_s(elapsed: timedelta) -> int | None:
    """Return the seconds until the next poll: a fifth of the elapsed time, 1 to 10."""
    if elapsed > POLLING_PERIOD:
        return None
    return round(min(MAX_POLL_INTERVAL_S, max(MIN_POLL_INTERVAL_S, elapsed.total_seconds() / 5)))


def version_poll_interval_s(elapsed: timedelta | None, polls: int) -> int | None:
    """Return the seconds until the next poll for a version in progress; None to stop polling.

    `elapsed` is None if no date says how long it is in progress; `polls` counts those without news.
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
        # One that was queued before this version goes live before it, and does not overtake it.
        live_at = live.queued_at if read_date(live.queued_at) else live.published_at
    # The service returns only the latest and the live version: an earlier one, once it is live.
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
    """Return draft, queued, processing, published; a failed step ends the list."""
    if version is None:
        return [
            ProgressStep(label, "todo") for label in ("Draft", "Queued", "Processing", "Published")
        ]
    is_live = stage in (Stage.LIVE, Stage.REPLACED)
    steps = [
        ("Draft", version.became_draft_at or version.created_at),
        ("Queued", version.queued_at),
        ("Processing", None),
        ("Published", version.published_at if is_live else None),
    ]
    # Publishing an earlier version starts over, whatever its status was.
    done = {VersionStatus.QUEUED.value: 1, VersionStatus.PROCESSING.value: 2}.get(version.status, 0)
    if is_live:
        done = 4
    elif stage in _ENDED_UNPUBLISHED:
        ended_at = getattr(version, f"{stage.value}_at", None)
        steps, done = [*steps[:2], (stage.value.capitalize(), ended_at)], 2
    states = [*["done"] * done, "now", *["todo"] * 3]
    return [
        ProgressStep(label, state, read_date(date))
        for (label, date), state in zip(steps, states, strict=False)
    ]


def _ended_at(stage: Stage, version: AudienceVersion | None, requested_at: datetime) -> datetime:
    """Return when the version reached a final stage, or the request if no date says so."""
    name = "published" if stage in (Stage.LIVE, Stage.REPLACED) else stage.value
    end = read_date(getattr(version, f"{name}_at", None))
    return end if end and end >= requested_at else requested_at


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at
