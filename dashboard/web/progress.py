"""How far a publish has come: the steps, what is said of it, and when to look again. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.queue_times import UsualTimes

LONG_WHERE_NOTHING_IS_USUAL = timedelta(minutes=2)
WATCHED = timedelta(minutes=30)
"""How long a page looks again by itself."""
SHORTEST_WAIT_S, LONGEST_WAIT_S = 1, 10

STEPS = (VersionStatus.DRAFT, VersionStatus.QUEUED, VersionStatus.PROCESSING)


class Stage(StrEnum):
    """Where a publish stands."""

    SENDING = "sending"
    """No answer yet."""
    UNKNOWN = "unknown"
    """Nobody answered."""
    UNDER_WAY = "under way"
    LIVE = "live"
    REPLACED = "replaced"
    """It went live, and another did since."""
    OVERTAKEN = "overtaken"
    """Another was asked for later and is live, and the service does not name this one any more."""
    CANCELLED = "cancelled"
    ARCHIVED = "archived"


_CAME_TO_NOTHING = (Stage.OVERTAKEN, Stage.CANCELLED, Stage.ARCHIVED)
FINAL = (Stage.LIVE, Stage.REPLACED, *_CAME_TO_NOTHING)


HEADLINES = {
    Stage.SENDING: "Sending {name}",
    Stage.UNKNOWN: "We don’t know if {name} was published",
    Stage.UNDER_WAY: "Publishing {name}",
    Stage.LIVE: "{name} is live",
    Stage.REPLACED: "{name} went live and was replaced",
    Stage.OVERTAKEN: "{name} was overtaken",
    Stage.CANCELLED: "{name} was cancelled",
    Stage.ARCHIVED: "{name} was archived",
}


@dataclass(frozen=True)
class Step:
    """One step of the stepper. `state` is done, now or todo."""

    word: str
    state: str
    at: datetime | None = None


@dataclass(frozen=True)
class Progress:
    """How far a publish has come."""

    stage: Stage
    status: str
    """The version's own, as the service names it; empty where it is not known."""
    steps: list[Step]
    elapsed: timedelta
    """From asking to the end, or to now."""
    is_long: bool
    """It has waited longer than is usual."""
    next_look_s: int | None
    """When to look again; None where nothing more is to come, or nobody watches any more."""

    name: str
    """What is published, such as "version 7"."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more is to come."""
        return self.stage in FINAL

    @property
    def headline(self) -> str:
        """Where it stands, in a few words."""
        said = HEADLINES[self.stage].format(name=self.name)
        return said[0].upper() + said[1:]


def progress_of(
    *,
    outcome: str,
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    is_named: bool,
    requested_at: datetime,
    usual: UsualTimes | None,
    now: datetime,
) -> Progress:
    """Return how far a publish asked for at `requested_at` has come.

    `is_named` tells that the service named the version when it was last read; it names the
    latest and the live one alone, so an earlier one is out of sight until it is live.
    """
    stage = _stage(outcome, version, live=live, is_named=is_named, requested_at=requested_at)
    elapsed = max((_end(stage, version, requested_at) or now) - requested_at, timedelta())
    longest = usual.most if usual else LONG_WHERE_NOTHING_IS_USUAL
    return Progress(
        stage=stage,
        status=version.status if version else "",
        steps=_steps(stage, version),
        elapsed=elapsed,
        is_long=stage not in FINAL and elapsed > longest,
        next_look_s=None if stage in FINAL else next_look_s(elapsed),
        name=f"version {version.version_number}" if version else "this version",
    )


def next_look_s(elapsed: timedelta) -> int | None:
    """Return in how many seconds to look again: a fifth of the time gone by, 1 to 10."""
    if elapsed > WATCHED:
        return None
    return round(min(LONGEST_WAIT_S, max(SHORTEST_WAIT_S, elapsed.total_seconds() / 5)))


def _stage(
    outcome: str,
    version: AudienceVersion | None,
    *,
    live: AudienceVersion | None,
    is_named: bool,
    requested_at: datetime,
) -> Stage:
    if outcome == Outcome.SENDING:
        return Stage.SENDING
    if outcome == Outcome.UNKNOWN:
        return Stage.UNKNOWN
    if version is None:
        return Stage.UNDER_WAY
    if live and live.version_id == version.version_id:
        return Stage.LIVE
    is_overtaken = not is_named and live and _is_since(_asked_at(live), requested_at)
    return _stage_of_one_not_live(version, live, requested_at) or (
        Stage.OVERTAKEN if is_overtaken else Stage.UNDER_WAY
    )


def _stage_of_one_not_live(
    version: AudienceVersion, live: AudienceVersion | None, requested_at: datetime
) -> Stage | None:
    """Return where a version's own status says it stands; None where it is on its way or silent."""
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


def _steps(stage: Stage, version: AudienceVersion | None) -> list[Step]:
    """Return draft, queued, processing, published; a step that came to nothing ends the list."""
    if version is None:
        return [Step(word, "todo") for word in ("Draft", "Queued", "Processing", "Published")]
    dates = [version.became_draft_at or version.created_at, version.queued_at, None]
    reached = _reached(stage, version)
    steps = [
        Step(status.value.capitalize(), _state(place, reached), read_date(date))
        for place, (status, date) in enumerate(zip(STEPS, dates, strict=True))
    ]
    if stage in _CAME_TO_NOTHING:
        date = getattr(version, f"{stage.value}_at", None)
        return [*steps[:2], Step(stage.value.capitalize(), "now", read_date(date))]
    shown = read_date(version.published_at) if stage in FINAL else None
    return [*steps, Step("Published", _state(3, reached), shown)]


def _reached(stage: Stage, version: AudienceVersion) -> int:
    """Return the place of the step a version is at, from 0; 4 where all are behind it."""
    if stage in (Stage.LIVE, Stage.REPLACED):
        return 4
    if stage in _CAME_TO_NOTHING:
        return 2
    places = {status.value: place for place, status in enumerate(STEPS)}
    # Publishing an earlier version begins anew, whatever became of it before.
    return places.get(version.status, 0)


def _state(place: int, reached: int) -> str:
    if place < reached:
        return "done"
    return "now" if place == reached else "todo"


def _end(stage: Stage, version: AudienceVersion | None, requested_at: datetime) -> datetime | None:
    if version is None or stage not in FINAL:
        return None
    name = "published" if stage in (Stage.LIVE, Stage.REPLACED) else stage.value
    end = read_date(getattr(version, f"{name}_at", None))
    return end if end and end >= requested_at else requested_at


def _asked_at(live: AudienceVersion) -> str | None:
    """Return when a live version was asked for, or else when it went live.

    One that was asked for before this one goes live before it, and overtakes nothing.
    """
    return live.queued_at if read_date(live.queued_at) else live.published_at


def _is_later(live: AudienceVersion | None, version: AudienceVersion) -> bool:
    then = read_date(version.published_at)
    return live is not None and then is not None and _is_since(live.published_at, then)


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at
