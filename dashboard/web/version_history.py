"""The versions of an audience as the ledger knows them: the history the service does not list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Q, QuerySet

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.ledger.models import Operation, VersionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import IN_FLIGHT, version_last_known, versions_seen
from dashboard.ledger.queries.operations import publishes_of
from dashboard.web.audience_head import AudienceHead
from dashboard.web.differences import compare_texts
from dashboard.web.lifecycles import Gap, Life, SeenVersion, gap_between, life_of
from dashboard.web.publishers import publish_behind

PART = 50
COUNTED_CHARACTERS = 12_000
"""Longer contexts are compared on a page of their own: fifty of them would take seconds."""


@dataclass(frozen=True)
class Changed:
    """How a version's context differs from that of another."""

    than: int
    """The number of the other version."""
    added: int
    removed: int
    is_same: bool


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """One version, what became of it, and the numbers never seen below it."""

    version: AudienceVersion
    first_seen_at: datetime
    last_seen_at: datetime
    """When its status was last seen to be this."""
    is_shown_now: bool
    """Whether the service still shows it, as the live or the latest version."""
    is_live: bool
    life: Life
    changed: Changed | None
    """None where there is nothing to compare with, or too much."""
    publishes: Sequence[Operation]
    """Requests to publish it from here, newest first."""
    gap: Gap | None

    @property
    def may_be_published(self) -> bool:
        """Whether to offer it for a first publication: a draft, live or not ever before."""
        return not self.is_live and self.version.status == VersionStatus.DRAFT

    @property
    def may_be_rolled_back_to(self) -> bool:
        """Whether it was live once, is not now, and is not on its way."""
        is_over = self.version.status not in (*IN_FLIGHT, VersionStatus.CANCELLED)
        return bool(self.version.published_at) and not self.is_live and is_over

    @cached_property
    def published_by(self) -> Operation | None:
        """The request from here by which it went live, or that it be published; the last one."""
        if self.version.published_at:
            return publish_behind(self.version, self.publishes)
        accepted = (one for one in self.publishes if one.outcome == Outcome.ACCEPTED)
        return next(accepted, None)

    @property
    def troubles(self) -> list[Operation]:
        """The requests from here that were not accepted, newest first."""
        return [one for one in self.publishes if one.outcome != Outcome.ACCEPTED]

    @property
    def mark(self) -> str:
        """What stands beside it on the line: live, trouble with the last request, or its status."""
        if self.is_live:
            return "live"
        if self.publishes and self.publishes[0].outcome in (Outcome.REJECTED, Outcome.UNKNOWN):
            return self.publishes[0].outcome
        return self.version.status


@dataclass(frozen=True)
class History:
    """A part of the history, newest first."""

    rows: list[HistoryRow]
    older: int
    """How many older versions were seen that this part does not hold."""

    @property
    def next_part(self) -> str:
        """The id of the version that the next part starts below; empty where there is none."""
        return self.rows[-1].version.version_id if self.rows and self.older else ""


def version_history(head: AudienceHead, *, before: str = "", now: datetime) -> History:
    """Return up to 50 versions, newest first, from below the version with the id `before` on.

    Five queries at most, whatever their number. An unknown `before` starts at the newest.
    """
    found = _older_than(head, before)
    records = list(found[: PART + 1])
    shown = [(record, record.version) for record in records[:PART]]
    publishes = _publishes(head, [record.version_id for record, _ in shown])
    below: list[VersionRecord | None] = [*records[1:], None]
    rows = [
        HistoryRow(
            version=version,
            first_seen_at=record.first_seen_at,
            last_seen_at=record.last_seen_at,
            is_shown_now=head.is_live(version) or head.is_latest(version),
            is_live=head.is_live(version),
            life=life_of(version, is_live=head.is_live(version), now=now),
            changed=_changed(head, version, older),
            publishes=publishes.get(record.version_id, []),
            gap=gap_between(_seen(record), _seen(older)) if older else None,
        )
        for (record, version), older in zip(shown, below, strict=False)
    ]
    return History(rows, older=found.count() - PART if len(records) > PART else 0)


def previous_to(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    """Return the version seen before this one in number, or None."""
    record = version_last_known(page_id, audience_id, version_id)
    return _below(versions_seen(page_id, audience_id), record).first() if record else None


def _older_than(head: AudienceHead, version_id: str) -> QuerySet[VersionRecord]:
    seen = versions_seen(head.page_id, head.audience_id)
    last = version_last_known(head.page_id, head.audience_id, version_id) if version_id else None
    return _below(seen, last) if last else seen


def _below(seen: QuerySet[VersionRecord], last: VersionRecord) -> QuerySet[VersionRecord]:
    same_number = Q(version_number=last.version_number, pk__lt=last.pk)
    return seen.filter(Q(version_number__lt=last.version_number) | same_number)


def _seen(record: VersionRecord) -> SeenVersion:
    return SeenVersion(record.version_number, record.first_seen_at)


def _publishes(head: AudienceHead, version_ids: list[str]) -> dict[str, list[Operation]]:
    found = publishes_of(head.page_id, head.audience_id).filter(version_id__in=version_ids)
    by_version: dict[str, list[Operation]] = {}
    for operation in found.prefetch_related("attempts"):
        by_version.setdefault(operation.version_id, []).append(operation)
    return by_version


def _changed(
    head: AudienceHead, version: AudienceVersion, older: VersionRecord | None
) -> Changed | None:
    """Compare what is newer than the live version with that, and the rest with the one before."""
    is_newer = head.live is not None and version.version_number > head.live.version_number
    other = head.live if is_newer else older.version if older else None
    if other is None:
        return None
    old, new = other.supplementary_context or "", version.supplementary_context or ""
    if len(old) + len(new) > COUNTED_CHARACTERS:
        return None
    found = compare_texts(old, new)
    return Changed(other.version_number, found.added, found.removed, is_same=found.is_same)
