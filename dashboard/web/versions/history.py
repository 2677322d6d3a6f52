"""The version history of an audience, from the ledger: the service does not list it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Q, QuerySet

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.ledger.models import Attempt, Operation, OutsidePublish, VersionRecord
from dashboard.ledger.models.audiences import IN_FLIGHT
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import version_last_known, versions_seen
from dashboard.ledger.queries.operations import publishes_of_versions
from dashboard.ledger.queries.outside_publishes import outside_publishes_of_versions
from dashboard.operations.verdicts import find_publish_of
from dashboard.service.clock import service_time
from dashboard.text_diff import compare_texts
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.ui.load_more import PAGE_SIZE
from dashboard.web.versions.lifecycle import Gap, Lifecycle, gap_between, lifecycle_of

COUNTED_CHARACTERS = 12_000
"""Longer contexts are compared on their own page only: fifty of them would take seconds."""
MAX_COMPARED = 150_000
"""Characters compared per response, newest version first: half a second at worst."""


def last_attempt(operation: Operation) -> Attempt | None:
    """Return the last attempt of an operation, from its prefetched attempts."""
    attempts = list(operation.attempts.all())
    return attempts[-1] if attempts else None


@dataclass(frozen=True)
class VersionChange:
    """The difference of a version's context from that of another."""

    other: int
    """The number of the other version."""
    added: int
    removed: int
    is_same: bool


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """One version, its lifecycle and publishes, and the gap of unseen numbers below it."""

    version: AudienceVersion
    first_seen_at: datetime
    last_seen_at: datetime
    """When its status was last seen."""
    is_shown_now: bool
    """Whether the service shows it now, as the live or the latest version."""
    is_live: bool
    status: str
    """That of `AudienceState.status_of`."""
    life: Lifecycle
    change: VersionChange | None
    """None if there is nothing to compare with, or too much."""
    publishes: Sequence[Operation]
    """Our publishes of it, newest first."""
    outside: Sequence[OutsidePublish]
    """The times that it went live outside Pressroom, newest first."""
    gap: Gap | None

    @property
    def may_be_published(self) -> bool:
        """Whether to offer a first publish: it is a draft, and not live."""
        return not self.is_live and self.version.status == VersionStatus.DRAFT

    @property
    def may_be_rolled_back_to(self) -> bool:
        """Whether it was live once, is not now, and is not in flight."""
        is_over = self.version.status not in (*IN_FLIGHT, VersionStatus.CANCELLED)
        return bool(self.version.published_at) and not self.is_live and is_over

    @cached_property
    def published_by(self) -> Operation | None:
        """Our publish that made it live; if it never was, our last accepted one."""
        if self.version.published_at:
            return find_publish_of(self.version, self.publishes)
        accepted = (publish for publish in self.publishes if publish.outcome == Outcome.ACCEPTED)
        return next(accepted, None)

    @property
    def unaccepted(self) -> list[Operation]:
        """Our publishes that were not accepted, newest first."""
        return [publish for publish in self.publishes if publish.outcome != Outcome.ACCEPTED]

    @property
    def mark(self) -> str:
        """The status of its marker: live, a failed or unknown last publish, or its own status."""
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
    """The number of versions older than these."""

    @property
    def next_before(self) -> str:
        """The `before` of the next page: the last version's id; empty if none is older."""
        return self.rows[-1].version.version_id if self.rows and self.older else ""


def version_history(
    head: AudienceHead, *, before: str = "", size: int = PAGE_SIZE, now: datetime
) -> History:
    """Return up to `size` versions, newest first, starting below the version with id `before`.

    Six queries at most. An unknown `before` starts at the newest.
    """
    found = versions_seen(head.page_id, head.audience_id)
    if before and (last := version_last_known(head.page_id, head.audience_id, before)):
        found = _below(found, last)
    records = list(found[: size + 1])
    shown = [(record, record.version) for record in records[:size]]
    version_ids = [record.version_id for record, _ in shown]
    publishes = _publishes(head, version_ids)
    outside = outside_publishes_of_versions(head.page_id, head.audience_id, version_ids)
    below: list[VersionRecord | None] = [*records[1:], None]
    changes = _changes(
        head, [(version, older) for (_, version), older in zip(shown, below, strict=False)]
    )
    rows = [
        HistoryRow(
            version=version,
            first_seen_at=record.first_seen_at,
            last_seen_at=record.last_seen_at,
            is_shown_now=head.is_live(version) or head.is_latest(version),
            is_live=head.is_live(version),
            status=head.status_of(version),
            life=lifecycle_of(version, is_live=head.is_live(version), now=service_time(now)),
            change=change,
            publishes=publishes.get(record.version_id, []),
            outside=[each for each in outside if each.version_id == record.version_id],
            gap=gap_between(record, older) if older else None,
        )
        for (record, version), older, change in zip(shown, below, changes, strict=False)
    ]
    return History(rows, older=found.count() - size if len(records) > size else 0)


def previous_to(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    """Return the version with the next lower number seen, or None."""
    record = version_last_known(page_id, audience_id, version_id)
    return _below(versions_seen(page_id, audience_id), record).first() if record else None


def _below(seen: QuerySet[VersionRecord], last: VersionRecord) -> QuerySet[VersionRecord]:
    same_number = Q(version_number=last.version_number, pk__lt=last.pk)
    return seen.filter(Q(version_number__lt=last.version_number) | same_number)


def _publishes(head: AudienceHead, version_ids: list[str]) -> dict[str, list[Operation]]:
    by_version: dict[str, list[Operation]] = {}
    for operation in publishes_of_versions(head.page_id, head.audience_id, version_ids):
        by_version.setdefault(operation.version_id, []).append(operation)
    return by_version


def _changes(
    head: AudienceHead, versions: Iterable[tuple[AudienceVersion, VersionRecord | None]]
) -> Iterator[VersionChange | None]:
    """Compare each version with the one before it, or with the live one if newer than that."""
    left = MAX_COMPARED
    for version, older in versions:
        is_newer = head.live is not None and version.version_number > head.live.version_number
        other = head.live if is_newer else older.version if older else None
        old = other.supplementary_context or "" if other else ""
        new = version.supplementary_context or ""
        length = len(old) + len(new)
        if other is None or length > min(COUNTED_CHARACTERS, left):
            yield None
            continue
        left -= length
        found = compare_texts(old, new)
        yield VersionChange(other.version_number, found.added, found.removed, is_same=found.is_same)
