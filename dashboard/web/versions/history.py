"""The versions of an audience and their lifecycles. The service doesn't list them; the ledger does.

The spec does not show the order of the states. So doubts are raised only about dates that
contradict the names of their fields: nothing happens before the creation, and nothing is queued
after it was published. Source: our choice.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from dashboard.contract.audiences import AudienceVersion, VersionStatus, text_of
from dashboard.contract.wire import is_mark, read_date
from dashboard.ledger.models import Attempt, Operation, Publication, VersionRecord
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import version_last_known, versions_seen
from dashboard.ledger.queries.operations import publishes_of_versions
from dashboard.service.health import CLOCK_TOLERANCE_S, service_time
from dashboard.text_diff import compare_texts
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.ui.markup import duration
from dashboard.web.ui.query_params import PAGE_SIZE

COUNTED_CHARACTERS = 12_000
"""Longer contexts are compared on their own page only, as fifty of them would take seconds."""
MAX_COMPARED = 150_000
"""Characters compared in one response, newest version first. Takes at most half a second."""
# The dates of a version in the order that their names suggest: field, API name, label.
DATES = (
    ("created_at", "createdAt", "Created"),
    ("became_draft_at", "becameDraftAt", "Draft"),
    ("queued_at", "queuedAt", "Queued"),
    ("published_at", "publishedAt", "Live"),
    ("cancelled_at", "cancelledAt", "Canceled"),
    ("obsolete_at", "obsoleteAt", "Superseded"),
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
    label: str
    text: str
    """Date as sent."""
    moment: datetime | None
    """Parsed date; None if the text can't be parsed."""
    duration: timedelta | None
    """Time since the previous step; None if either has no moment."""


@dataclass(frozen=True)
class Lifecycle:
    """The steps of a version in order of time, its current state, and doubtful dates."""

    steps: tuple[LifecycleStep, ...]
    state: str
    """State since the last step, such as `Live` or `In draft`; empty if the lifecycle is over."""
    lasted: timedelta | None
    """Time in that state; None if the dates don't say."""
    doubts: tuple[str, ...]
    """Sentences about dates that are out of order, missing or unreadable."""


@dataclass(frozen=True)
class Gap:
    """Version numbers that were never seen, between two that were."""

    below: VersionRecord
    above: VersionRecord

    @property
    def first(self) -> int:
        return self.below.version_number + 1

    @property
    def last(self) -> int:
        return self.above.version_number - 1

    @property
    def checks(self) -> tuple[datetime, datetime] | None:
        """When the two neighbors were first seen; None if not in the order of their numbers."""
        checks = (self.below.first_seen_at, self.above.first_seen_at)
        return checks if checks[0] < checks[1] else None

    @property
    def precedes_first_check(self) -> bool:
        """Whether both neighbors were first seen at the same time."""
        return self.below.first_seen_at == self.above.first_seen_at


def lifecycle_of(version: AudienceVersion, *, is_live: bool, now: datetime) -> Lifecycle:
    steps: list[LifecycleStep] = []
    before: datetime | None = None
    for label, text, moment in _dates_in_order(version):
        duration = moment - before if moment and before else None
        steps.append(LifecycleStep(label, text, moment, duration))
        before = moment
    moments = [step.moment for step in steps if step.moment]
    state = "Live" if is_live else _OPEN_STATES.get(version.status, "")
    since = read_date(version.published_at) if is_live else max(moments, default=None)
    return Lifecycle(
        steps=tuple(steps),
        state=state,
        lasted=now - since if state and since and since <= now else None,
        doubts=tuple(_doubts(version, now)),
    )


def gap_between(above: VersionRecord, below: VersionRecord) -> Gap | None:
    gap = Gap(below=below, above=above)
    return gap if gap.first <= gap.last else None


def _dates_in_order(version: AudienceVersion) -> Sequence[tuple[str, str, datetime | None]]:
    """Return the sent dates in order of time. An unparsable one follows its predecessor."""
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
        if date and date > now + timedelta(seconds=CLOCK_TOLERANCE_S):
            yield f"{name} is in the future, by {duration(date - now)}."
        if text and read_date(text) is None and not is_mark(text):
            yield f"{name} isn’t a readable date: “{text[:40]}”."


def last_attempt(operation: Operation) -> Attempt | None:
    attempts = list(operation.attempts.all())
    return attempts[-1] if attempts else None


@dataclass(frozen=True)
class VersionChange:
    other: int
    added: int
    removed: int
    is_same: bool


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """A version with its lifecycle and publishes, and the gap of unseen numbers below it."""

    version: AudienceVersion
    first_seen_at: datetime
    last_seen_at: datetime
    """When the status was last seen."""
    is_shown_now: bool
    """Whether the service shows the version now, as the live or the latest one."""
    is_live: bool
    status: str
    """State from `AudienceState.state_of`."""
    life: Lifecycle
    change: VersionChange | None
    """Comparison of the texts; None if there is nothing to compare with, or too much."""
    publishes: Sequence[Operation]
    """Our publishes of the version, newest first."""
    publications: Sequence[Publication]
    """Periods in which the version was live, newest first."""
    gap: Gap | None
    is_earlier: bool
    """Whether the version is older than the live one, by number."""

    @property
    def may_be_published(self) -> bool:
        return not self.is_live and self.version.status == VersionStatus.DRAFT

    @property
    def may_be_rolled_back_to(self) -> bool:
        is_over = self.version.status not in (*IN_FLIGHT, VersionStatus.CANCELLED)
        return bool(self.version.published_at) and self.is_earlier and is_over

    @property
    def outside(self) -> list[Publication]:
        return [
            publication
            for publication in self.publications
            if publication.reason == PublicationReason.OUTSIDE
        ]

    @cached_property
    def published_by(self) -> Operation | None:
        """Our publish that last made the version live.

        If it never was live, our last accepted publish.
        """
        if self.publications:
            return self.publications[0].operation
        accepted = (publish for publish in self.publishes if publish.outcome == Outcome.ACCEPTED)
        return next(accepted, None)

    @property
    def unaccepted(self) -> list[Operation]:
        return [publish for publish in self.publishes if publish.outcome != Outcome.ACCEPTED]

    @property
    def mark(self) -> str:
        """Status for the marker.

        The outcome of the last publish if it failed or is unknown and the version is not live,
        otherwise the status.
        """
        if self.is_live:
            return self.status
        if self.publishes and self.publishes[0].outcome in (Outcome.REJECTED, Outcome.UNKNOWN):
            return self.publishes[0].outcome
        return self.status


@dataclass(frozen=True)
class History:
    """One page of the history, newest first."""

    rows: list[HistoryRow]
    older: int
    """Number of versions older than these."""

    @property
    def next_before(self) -> str:
        """Value of `before` for the next page: the last version's id; empty if none is older."""
        return self.rows[-1].version.version_id if self.rows and self.older else ""


def version_history(
    head: AudienceHead, *, before: str = "", size: int = PAGE_SIZE, now: datetime
) -> History:
    """Return up to `size` versions, newest first, all older than the version with id `before`.

    Makes at most six queries. An unknown `before` starts at the newest version.
    """
    history = versions_seen(head.page_id, head.audience_id)
    if before and (last := version_last_known(head.page_id, head.audience_id, before)):
        history = _below(history, last)
    records = list(history[: size + 1])
    listed = [(record, record.version) for record in records[:size]]
    version_ids = [record.version_id for record, _ in listed]
    publishes: dict[str, list[Operation]] = defaultdict(list)
    for operation in publishes_of_versions(head.page_id, head.audience_id, version_ids):
        publishes[operation.version_id].append(operation)
    below: list[VersionRecord | None] = [*records[1:], None]
    changes = _changes(
        head, [(version, older) for (_, version), older in zip(listed, below, strict=False)]
    )
    rows = [
        HistoryRow(
            version=version,
            first_seen_at=record.first_seen_at,
            last_seen_at=record.last_seen_at,
            is_shown_now=head.is_live(version) or head.is_latest(version),
            is_live=head.is_live(version),
            status=head.state_of(version),
            life=lifecycle_of(version, is_live=head.is_live(version), now=service_time(now)),
            change=change,
            publishes=publishes.get(record.version_id, []),
            publications=[
                publication
                for publication in head.publications
                if publication.version_id == record.version_id
            ],
            gap=gap_between(record, older) if older else None,
            is_earlier=bool(head.live and version.version_number < head.live.version_number),
        )
        for (record, version), older, change in zip(listed, below, changes, strict=False)
    ]
    return History(rows, older=history.count() - size if len(records) > size else 0)


def previous_to(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    record = version_last_known(page_id, audience_id, version_id)
    return _below(versions_seen(page_id, audience_id), record).first() if record else None


def _below(seen: QuerySet[VersionRecord], last: VersionRecord) -> QuerySet[VersionRecord]:
    same_number = Q(version_number=last.version_number, pk__lt=last.pk)
    return seen.filter(Q(version_number__lt=last.version_number) | same_number)


def _changes(
    head: AudienceHead, versions: Iterable[tuple[AudienceVersion, VersionRecord | None]]
) -> Iterator[VersionChange | None]:
    """Compare each version with the live one if it is newer, otherwise with the one before it."""
    left = MAX_COMPARED
    for version, older in versions:
        is_newer = head.live is not None and version.version_number > head.live.version_number
        other = head.live if is_newer else older.version if older else None
        old = text_of(other)
        new = text_of(version)
        length = len(old) + len(new)
        if other is None or length > min(COUNTED_CHARACTERS, left):
            yield None
            continue
        left -= length
        differences = compare_texts(old, new)
        yield VersionChange(
            other.version_number,
            differences.added,
            differences.removed,
            is_same=differences.is_same,
        )
