"""Progress of a publish: its stage, its steps, and the interval of polls. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.typical_times import TypicalTimes

DEFAULT_LONG = timedelta(minutes=2)
POLLING_PERIOD = timedelta(minutes=30)
"""How long the browser polls after a publish."""
MIN_POLL_INTERVAL_S, MAX_POLL_INTERVAL_S = 1, 10
RARE_POLL_INTERVAL_S = 60
"""Between polls for a version in progress for longer than POLLING_PERIOD."""
MAX_POLLS = 40
"""Polls without news for such a version, or for one without a date, before polling stops."""

STEPS = (VersionStatus.DRAFT, VersionStatus.QUEUED, VersionStatus.PROCESSING)


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
    *,
    outcome: str,
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    is_returned: bool,
    requested_at: datetime,
    usual: TypicalTimes | None,
    now: datetime,
) -> Progress:
    """Return the progress of a publish requested at `requested_at`.

    `is_returned` is whether the last read returned the version; the service returns only the
    latest and the live one, so an earlier one is not returned until it is live.
    """
    stage = _stage(outcome, version, live=live, is_returned=is_returned, requested_at=requested_at)
    elapsed = max((_ended_at(stage, version, requested_at) or now) - requested_at, timedelta())
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


def _stage(
    outcome: str,
    version: AudienceVersion | None,
    *,
    live: AudienceVersion | None,
    is_returned: bool,
    requested_at: datetime,
) -> Stage:
    if outcome == Outcome.SENDING:
        return Stage.SENDING
    if outcome == Outcome.UNKNOWN:
        return Stage.UNKNOWN
    if version is None:
        return Stage.IN_PROGRESS
    if live and live.version_id == version.version_id:
        return Stage.LIVE
    is_overtaken = not is_returned and live and _is_since(_queued_or_live_at(live), requested_at)
    return _stage_by_status(version, live, requested_at) or (
        Stage.OVERTAKEN if is_overtaken else Stage.IN_PROGRESS
    )


def _stage_by_status(
    version: AudienceVersion, live: AudienceVersion | None, requested_at: datetime
) -> Stage | None:
    """Return the stage that follows from the version's own status; None if it is in progress."""
    status, went_live = version.status, _is_since(version.published_at, requested_at)
    if status == VersionStatus.CANCELLED:
        return Stage.CANCELLED
    if status == VersionStatus.PUBLISHED and not _is_later(live, version):
        return Stage.LIVE
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
    dates = [version.became_draft_at or version.created_at, version.queued_at, None]
    reached = _current_step(stage, version)
    steps = [
        ProgressStep(status.value.capitalize(), _step_state(place, reached), read_date(date))
        for place, (status, date) in enumerate(zip(STEPS, dates, strict=True))
    ]
    if stage in _ENDED_UNPUBLISHED:
        date = getattr(version, f"{stage.value}_at", None)
        return [*steps[:2], ProgressStep(stage.value.capitalize(), "now", read_date(date))]
    shown = read_date(version.published_at) if stage in FINAL else None
    return [*steps, ProgressStep("Published", _step_state(3, reached), shown)]


def _current_step(stage: Stage, version: AudienceVersion) -> int:
    """Return the index of the current step, from 0; 4 if all are done."""
    if stage in (Stage.LIVE, Stage.REPLACED):
        return 4
    if stage in _ENDED_UNPUBLISHED:
        return 2
    places = {status.value: place for place, status in enumerate(STEPS)}
    # Publishing an earlier version starts over, whatever its status was.
    return places.get(version.status, 0)


def _step_state(place: int, reached: int) -> str:
    if place < reached:
        return "done"
    return "now" if place == reached else "todo"


def _ended_at(
    stage: Stage, version: AudienceVersion | None, requested_at: datetime
) -> datetime | None:
    if version is None or stage not in FINAL:
        return None
    name = "published" if stage in (Stage.LIVE, Stage.REPLACED) else stage.value
    end = read_date(getattr(version, f"{name}_at", None))
    return end if end and end >= requested_at else requested_at


def _queued_or_live_at(live: AudienceVersion) -> str | None:
    """Return when a live version was queued, or else when it went live.

    One that was queued before this version goes live before it, and does not overtake it.
    """
    return live.queued_at if read_date(live.queued_at) else live.published_at


def _is_later(live: AudienceVersion | None, version: AudienceVersion) -> bool:
    then = read_date(version.published_at)
    return live is not None and then is not None and _is_since(live.published_at, then)


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at
