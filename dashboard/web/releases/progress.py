"""The page of a running or ended release: counts, and items in groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.approvals.rule import current_rule
from dashboard.contract.audiences import text_of
from dashboard.ledger.models import AudienceRecord, Publication, VersionRecord
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries.audiences import of_audiences
from dashboard.ledger.states import VERSION_STATES, OperationState, VersionState
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.next_drafts import (
    NOT_KNOWN_LIVE,
    open_retries,
    open_rollbacks,
    restored_sentence,
    retry_problems,
    rollback_problems,
)
from dashboard.text_diff import compare_texts
from dashboard.web.releases.summary import ITEM_BADGES, Badge, ReleaseSummary
from dashboard.web.ui.htmx import Request

MAX_EXCERPTS = 20
"""How many items of a rollback show their text. Source: our choice."""
FEW = 3
"""How many rows a group shows at first if nothing in it needs attention."""
MANY = 20
"""How many rows a group shows at first if it is in progress, or live in an ended release."""
IN_FLIGHT_BADGES = {status: VERSION_STATES[status].badge for status in IN_FLIGHT}
TALLY = (
    ("Went live", *VersionState.LIVE.badge[1:], (ItemState.LIVE,)),
    (*OperationState.IN_PROGRESS.badge, (ItemState.SENDING, ItemState.IN_PROGRESS)),
    (*OperationState.FAILED.badge, (ItemState.FAILED,)),
    ("Held", "st-held", "warn", (ItemState.HELD,)),
    (*OperationState.UNKNOWN.badge, (ItemState.UNKNOWN,)),
    ("Not sent yet", "st-todo", "plain", (ItemState.WAITING,)),
    (*OperationState.NOT_SENT.badge, (ItemState.CANCELED,)),
)
"""Parts of the bar: label, icon, tone, and states of items."""


@dataclass(frozen=True)
class TallyPart:
    badge: Badge
    start: int
    """Number of items in the parts before it."""
    count: int


@dataclass(frozen=True)
class ItemRow:
    item: ReleaseItem
    badge: Badge
    is_next: bool = False

    @property
    def is_live_now(self) -> bool:
        return self.item.state == ItemState.LIVE and self.badge != VersionState.SUPERSEDED.badge

    @property
    def lasted(self) -> timedelta | None:
        """Time from sending until the item was settled; None before that."""
        item = self.item
        return item.settled_at - item.sent_at if item.settled_at and item.sent_at else None


@dataclass(frozen=True)
class ItemGroup:
    """The items in some states. `rows` may hold only the first of them."""

    name: str
    """Value in the query string."""
    label: str
    total: int
    rows: list[ItemRow]

    @property
    def is_cut(self) -> bool:
        return self.total > len(self.rows)


@dataclass(frozen=True)
class ReleaseProgress:
    summary: ReleaseSummary
    groups: list[ItemGroup]
    whole: str
    """Name of the group that shows all its items, or `all` for every group; or ""."""
    now: datetime

    @property
    def release(self) -> Release:
        return self.summary.release

    @property
    def tally(self) -> list[TallyPart]:
        """The parts of the bar. Empty parts are left out, except live, failed and unknown."""
        parts, start = [], 0
        usual = (ItemState.LIVE, ItemState.FAILED, ItemState.UNKNOWN)
        for label, icon, tone, states in TALLY:
            count = self.summary.count(*states)
            if count or states[0] in usual:
                parts.append(TallyPart((label, icon, tone if count else "plain"), start, count))
            start += count
        return parts

    @property
    def sentence(self) -> str:
        """The counts of the bar as a sentence, for screen readers."""
        return ", ".join(f"{part.count} {part.badge[0].lower()}" for part in self.tally)

    @property
    def headline(self) -> str:
        summary = self.summary
        if self.release.state == ReleaseState.RUNNING:
            return f"{summary.sent} of {summary.total} sent, {summary.live} went live"
        if not summary.sent:
            return "Nothing was sent"
        return f"{summary.live} of {summary.total} went live"

    @property
    def elapsed(self) -> timedelta | None:
        started = self.release.started_at
        return (self.release.finished_at or self.now) - started if started else None

    @cached_property
    def median_time_to_live(self) -> timedelta | None:
        """Median time from sending until live; None if nothing went live."""
        live = self.release.items.filter(state=ItemState.LIVE, sent_at__isnull=False)
        times = [
            (settled - sent).total_seconds()
            for sent, settled in live.values_list("sent_at", "settled_at")
            if sent and settled
        ]
        return timedelta(seconds=median(times)) if times else None


def read_progress(
    summary: ReleaseSummary, params: Mapping[str, str], now: datetime
) -> ReleaseProgress:
    """Return the items by state. `?state=` names a group that shows all its items.

    Makes at most seven queries for any number of items.
    """
    whole = params.get("state", "")
    is_running = summary.release.state == ReleaseState.RUNNING
    groups = [_read_group(summary, group, whole) for group in _groups(is_running=is_running)]
    return ReleaseProgress(summary, [group for group in groups if group.total], whole, now)


def progress_context(request: Request, summary: ReleaseSummary, *, page_url: str) -> dict[str, Any]:
    """Return the context for the progress of a release on the page at `page_url`."""
    return {"progress": read_progress(summary, request.GET, clock.now()), "page_url": page_url}


@dataclass(frozen=True)
class _Group:
    name: str
    label: str
    states: tuple[str, ...]
    order: tuple[str, ...] = ("position",)
    size: int | None = FEW


def _groups(*, is_running: bool) -> list[_Group]:
    needing = (ItemState.UNKNOWN, ItemState.FAILED, ItemState.HELD)
    moving = (ItemState.SENDING, ItemState.IN_PROGRESS)
    latest = ("-settled_at", "-position")
    return [
        _Group("attention", "Needs attention", needing, size=None),
        _Group("progress", "In progress", moving, ("-sent_at", "-position"), MANY),
        _Group("waiting", "Not sent yet", (ItemState.WAITING,)),
        _Group("live", "Went live", (ItemState.LIVE,), latest, FEW if is_running else MANY),
        _Group("canceled", "Not sent", (ItemState.CANCELED,)),
    ]


def _read_group(summary: ReleaseSummary, group: _Group, whole: str) -> ItemGroup:
    total = summary.count(*group.states)
    if not total:
        return ItemGroup(group.name, group.label, 0, [])
    matching = summary.release.items.filter(state__in=group.states).order_by(*group.order)
    items = matching.defer("version_body", "live_body").select_related("operation")
    visible_items = list(items if whole in (group.name, "all") else items[: group.size])
    return ItemGroup(
        group.name, group.label, total, _rows(summary.release, group.name, visible_items)
    )


def _rows(release: Release, name: str, items: list[ReleaseItem]) -> list[ItemRow]:
    if name == "live":
        gone = _superseded(items)
        return [
            ItemRow(
                item, VersionState.SUPERSEDED.badge if item.pk in gone else ITEM_BADGES[item.state]
            )
            for item in items
        ]
    if name == "progress":
        statuses = _statuses(items)
        return [
            ItemRow(item, IN_FLIGHT_BADGES.get(statuses.get(item.pk, ""), ITEM_BADGES[item.state]))
            for item in items
        ]
    is_running = release.state == ReleaseState.RUNNING and name == "waiting"
    return [
        ItemRow(item, ITEM_BADGES[item.state], is_next=is_running and place == 0)
        for place, item in enumerate(items)
    ]


def _superseded(items: list[ReleaseItem]) -> set[int]:
    keys = [(item.page_id, item.audience_id) for item in items]
    records = AudienceRecord.objects.filter(of_audiences(keys))
    columns = ("page_id", "audience_id", "live_version_id")
    live = {(page, audience): version for page, audience, version in records.values_list(*columns)}
    return {
        item.pk
        for item in items
        if live.get((item.page_id, item.audience_id)) not in ("", None, item.version_id)
    }


def _statuses(items: list[ReleaseItem]) -> dict[int, str]:
    accepted = [item for item in items if item.state == ItemState.IN_PROGRESS]
    versions: QuerySet[VersionRecord] = VersionRecord.objects.filter(
        version_id__in=[item.version_id for item in accepted], status__in=IN_FLIGHT
    )
    columns = ("page_id", "audience_id", "version_id", "status")
    seen = {(row[0], row[1], row[2]): row[3] for row in versions.values_list(*columns)}
    return {
        item.pk: status
        for item in accepted
        if (status := seen.get((item.page_id, item.audience_id, item.version_id)))
    }


@dataclass(frozen=True)
class RollbackPreview:
    live: int
    possible: list[ReleaseItem]
    restored: int
    """Number of items whose previous version is live again already."""
    impossible: list[tuple[ReleaseItem, str]]
    open: Release | None
    """Release that is rolling this one back; None if there is none or it has ended."""


def preview_rollback(summary: ReleaseSummary) -> RollbackPreview:
    """Return which of the live items can be rolled back, by their last known state."""
    live = summary.release.items.filter(state=ItemState.LIVE)
    items = list(live.defer("version_body", "live_body"))
    problems = rollback_problems(items)
    left = [(item, problems[item.pk]) for item in items if item.pk in problems]
    impossible = [(item, reason) for item, reason in left if reason != restored_sentence(item)]
    return RollbackPreview(
        live=len(items),
        possible=[item for item in items if item.pk not in problems],
        restored=len(left) - len(impossible),
        impossible=impossible,
        open=_listed(open_rollbacks(summary.release)),
    )


def rollback_context(items: Sequence[ReleaseItem]) -> dict[str, Any]:
    """Return the dialog's context for items that can be rolled back. Makes three queries.

    `periods` has the last period in which each previous version was live, by the item's key.
    `differences` has what visitors will see again, for the first items only.
    """
    first = ReleaseItem.objects.filter(pk__in=[item.pk for item in items[:MAX_EXCERPTS]])
    return {
        "periods": _last_periods(items),
        "differences": {
            item.pk: compare_texts(text_of(item.version), text_of(item.live_version))
            for item in first
        },
        "needs_approval": current_rule().covers_rollbacks,
    }


def _last_periods(items: Iterable[ReleaseItem]) -> dict[int, Publication]:
    by_version = {(item.page_id, item.audience_id, item.live_version_id): item.pk for item in items}
    publications = Publication.objects.filter(
        of_audiences(key[:2] for key in by_version), ended_at__isnull=False
    )
    periods = {}
    for publication in publications.order_by("started_at", "pk"):
        key = (publication.page_id, publication.audience_id, publication.version_id)
        if key in by_version:
            periods[by_version[key]] = publication
    return periods


def _listed(releases: QuerySet[Release]) -> Release | None:
    """Return the first release; None if it was only opened, as the button opens it again."""
    release = releases.first()
    return release if release and not release.is_provisional else None


@dataclass(frozen=True)
class RetryPreview:
    failed: int
    possible: list[ReleaseItem]
    left_out: list[tuple[ReleaseItem, str]]
    open: Release | None
    """Release that is retrying them; None if there is none or it has ended."""


def preview_retry(summary: ReleaseSummary) -> RetryPreview | None:
    """Return what a retry of a finished release would do, by last known states.

    Returns None if nothing failed or the release is not finished.
    """
    if summary.release.state != ReleaseState.FINISHED or not summary.count(ItemState.FAILED):
        return None
    items = summary.release.items.filter(state__in=NOT_KNOWN_LIVE)
    preview = list(items.defer("version_body", "live_body").select_related("operation"))
    problems = retry_problems(preview)
    return RetryPreview(
        failed=summary.count(ItemState.FAILED),
        possible=[item for item in preview if item.pk not in problems],
        left_out=[(item, problems[item.pk]) for item in preview if item.pk in problems],
        open=_listed(open_retries(summary.release)),
    )
