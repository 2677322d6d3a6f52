"""The lifecycle of a version, from its dates, and gaps in the version numbers.

The spec does not show the order of the states; doubts are raised only about dates that contradict
the names of their fields (our choice): nothing precedes its creation, and nothing is queued after
it was published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import is_mark, read_date
from dashboard.ledger.models import VersionRecord
from dashboard.service.clock import TOLERANCE_S
from dashboard.web.ui.markup import duration

# The dates of a version in the order their names suggest: field, wire name, label.
DATES = (
    ("created_at", "createdAt", "Created"),
    ("became_draft_at", "becameDraftAt", "Draft"),
    ("queued_at", "queuedAt", "Queued"),
    ("published_at", "publishedAt", "Published"),
    ("cancelled_at", "cancelledAt", "Cancelled"),
    ("obsolete_at", "obsoleteAt", "Obsolete"),
    ("archived_at", "archivedAt", "Archived"),
)
_WIRE_NAMES = {field: wire for field, wire, _ in DATES}
# Pairs of dates in their required order. Publishing again may follow anything else.
_COMES_FIRST = (
    *(("created_at", field) for field, _, _ in DATES[1:]),
    ("became_draft_at", "queued_at"),
    ("queued_at", "published_at"),
)
_DATE_OF_STATUS = {
    "draft": "became_draft_at",
    "queued": "queued_at",
    "processing": "queued_at",
    "published": "published_at",
    "cancelled": "cancelled_at",
    "archived": "archived_at",
}
_OPEN_STATES = {
    "pending": "Pending",
    "draft": "In draft",
    "queued": "In queue",
    "processing": "Processing",
}


@dataclass(frozen=True)
class LifecycleStep:
    """One date of a version."""

    label: str
    text: str
    """The date as sent."""
    moment: datetime | None
    """None if the text can't be parsed."""
    duration: timedelta | None
    """The time since the step before; None if either has no moment."""


@dataclass(frozen=True)
class Lifecycle:
    """The steps of one version in time order, its current state, and doubtful dates."""

    steps: tuple[LifecycleStep, ...]
    state: str
    """The state since the last step: `Live`, `In draft`; empty if its lifecycle is over."""
    lasted: timedelta | None
    """How long it has had that state, if the dates say so."""
    doubts: tuple[str, ...]
    """Sentences about dates that are out of order, missing, or can't be read."""


@dataclass(frozen=True)
class Gap:
    """Version numbers never seen, between two that were."""

    below: VersionRecord
    above: VersionRecord

    @property
    def first(self) -> int:
        """The lowest number never seen."""
        return self.below.version_number + 1

    @property
    def last(self) -> int:
        """The highest number never seen."""
        return self.above.version_number - 1

    @property
    def checks(self) -> tuple[datetime, datetime] | None:
        """The times its neighbors were first seen; None if not in the order of their numbers."""
        checks = (self.below.first_seen_at, self.above.first_seen_at)
        return checks if checks[0] < checks[1] else None

    @property
    def precedes_first_check(self) -> bool:
        """Whether both its neighbors were first seen at the same time."""
        return self.below.first_seen_at == self.above.first_seen_at


def lifecycle_of(version: AudienceVersion, *, is_live: bool, now: datetime) -> Lifecycle:
    """Return the lifecycle of a version, from its dates; `now` is by the service's clock."""
    steps = _steps(version)
    moments = [step.moment for step in steps if step.moment]
    state = "Live" if is_live else _OPEN_STATES.get(version.status, "")
    since = read_date(version.published_at) if is_live else max(moments, default=None)
    return Lifecycle(
        steps=steps,
        state=state,
        lasted=now - since if state and since and since <= now else None,
        doubts=tuple(_doubts(version, now)),
    )


def gap_between(above: VersionRecord, below: VersionRecord) -> Gap | None:
    """Return the gap between two adjacent versions of the history, or None."""
    gap = Gap(below=below, above=above)
    return gap if gap.first <= gap.last else None


def _steps(version: AudienceVersion) -> tuple[LifecycleStep, ...]:
    steps: list[LifecycleStep] = []
    before: datetime | None = None
    for label, text, moment in _dates_in_order(version):
        duration = moment - before if moment and before else None
        steps.append(LifecycleStep(label, text, moment, duration))
        before = moment
    return tuple(steps)


def _dates_in_order(
    version: AudienceVersion,
) -> Sequence[tuple[str, str, datetime | None]]:
    """Return the dates sent, in time order; one that can't be parsed follows its predecessor."""
    dated: list[tuple[datetime | None, tuple[str, str, datetime | None]]] = []
    last: datetime | None = None
    for field, _, label in DATES:
        if text := getattr(version, field):
            moment = read_date(text)
            last = moment or last
            dated.append((last, (label, text, moment)))
    dated.sort(key=lambda entry: (entry[0] is not None, entry[0] or 0))
    return [entry for _, entry in dated]


def _doubts(version: AudienceVersion, now: datetime) -> Iterator[str]:
    expected = _DATE_OF_STATUS.get(version.status)
    if expected and not getattr(version, expected):
        yield f"The status is {version.status}, but {_WIRE_NAMES[expected]} is empty."
    for earlier, later in _COMES_FIRST:
        first, second = read_date(getattr(version, earlier)), read_date(getattr(version, later))
        if first and second and second < first:
            yield f"{_WIRE_NAMES[later]} is before {_WIRE_NAMES[earlier]}."
    duration_ms = version.queue_duration_ms
    if duration_ms is not None and duration_ms < 0:
        yield f"queueDurationMs is negative: {duration_ms:g}."
    for field, name, _ in DATES:
        text = getattr(version, field)
        date = read_date(text)
        if date and date > now + timedelta(seconds=TOLERANCE_S):
            yield f"{name} is in the future, by {duration(date - now)}."
        if text and read_date(text) is None and not is_mark(text):
            yield f"{name} isn’t a readable date: “{text[:40]}”."
