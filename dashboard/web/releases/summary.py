"""The state of a release in a few words, for its page and for the agenda."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.ledger.states import OperationState, VersionState
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState, WorkerHeartbeat
from dashboard.releases.worker import MISSING_AFTER

Badge = tuple[str, str, str]
"""Label, icon and tone."""
RELEASE_BADGES: dict[str, Badge] = {
    ReleaseState.DRAFT: ("Draft", "st-draft", "plain"),
    ReleaseState.WAITING_FOR_APPROVAL: ("Needs approval", "st-approval", "info"),
    ReleaseState.SCHEDULED: ("Scheduled", "st-scheduled", "info"),
    ReleaseState.RUNNING: ("Publishing", "st-processing", "work"),
    ReleaseState.HELD: ("Held", "st-held", "warn"),
    ReleaseState.CANCELED: ("Canceled", "st-cancelled", "plain"),
}
ITEM_BADGES: dict[str, Badge] = {
    ItemState.WAITING: ("Not sent yet", "st-todo", "plain"),
    ItemState.SENDING: ("Sending", "st-processing", "work"),
    ItemState.IN_PROGRESS: OperationState.IN_PROGRESS.badge,
    ItemState.LIVE: VersionState.LIVE.badge,
    ItemState.FAILED: OperationState.FAILED.badge,
    ItemState.HELD: ("Held", "st-held", "warn"),
    ItemState.UNKNOWN: OperationState.UNKNOWN.badge,
    ItemState.CANCELED: OperationState.NOT_SENT.badge,
}
SENT = (
    *(ItemState.SENDING, ItemState.IN_PROGRESS, ItemState.LIVE),
    *(ItemState.FAILED, ItemState.UNKNOWN),
)
"""States of items for which a request was made."""


@dataclass(frozen=True)
class WorkerStatus:
    active_at: datetime | None

    @property
    def age(self) -> timedelta:
        return clock.now() - self.active_at if self.active_at else timedelta()

    @property
    def is_running(self) -> bool:
        return bool(self.active_at and clock.now() - self.active_at < MISSING_AFTER)


def worker_status() -> WorkerStatus:
    last = WorkerHeartbeat.objects.order_by("-active_at").values_list("active_at", flat=True)
    return WorkerStatus(last.first())


@dataclass(frozen=True)
class ReleaseSummary:
    release: Release
    counts: dict[str, int]
    pages: tuple[str, ...] = ()
    """Names of the items' pages; empty if they were not read."""
    reviewed: int = 0
    """Number of items marked as reviewed; 0 if they were not counted."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def count(self, *states: str) -> int:
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def sent(self) -> int:
        return self.count(*SENT)

    @property
    def live(self) -> int:
        return self.count(ItemState.LIVE)

    @property
    def in_progress(self) -> int:
        return self.count(ItemState.SENDING, ItemState.IN_PROGRESS)

    @property
    def not_sent(self) -> int:
        return self.total - self.sent

    @property
    def badge(self) -> Badge:
        release = self.release
        if release.state == ReleaseState.RUNNING and release.stop_requested_at:
            return "Stopping", "st-processing", "work"
        if release.state != ReleaseState.FINISHED:
            return RELEASE_BADGES[release.state]
        if unknown := self.count(ItemState.UNKNOWN):
            label = f"Finished, {unknown} outcome{'s' if unknown > 1 else ''} unknown"
            return label, "st-unknown", "warn"
        if failed := self.count(ItemState.FAILED):
            return f"Finished, {failed} failed", "st-failed", "bad"
        if self.not_sent:
            return f"Finished, {self.not_sent} not sent", "st-stopped", "plain"
        return "Finished", "st-published", "ok"

    @property
    def result(self) -> str:
        """The outcome of the items so far: `47 of 100 sent, 38 went live, 1 failed`."""
        parts = [f"{self.sent} of {self.total} sent", f"{self.live} went live"]
        if self.live == self.total:
            return f"{self.live} of {self.total} went live"
        for state, label in (
            (ItemState.FAILED, "failed"),
            (ItemState.HELD, "held"),
            (ItemState.UNKNOWN, "unknown"),
        ):
            if count := self.count(state):
                parts.append(f"{count} {label}")
        return ", ".join(parts) if self.sent else "Nothing was sent"

    @property
    def is_moving(self) -> bool:
        """Whether the release is running, or a sent item is still in progress."""
        return self.release.state == ReleaseState.RUNNING or self.in_progress > 0

    @property
    def needs_worker(self) -> bool:
        waits = (
            *(ReleaseState.RUNNING, ReleaseState.SCHEDULED),
            ReleaseState.WAITING_FOR_APPROVAL,  # It expires, or is due.
        )
        return self.release.needs_check or self.release.state in waits

    @property
    def is_scheduled_elsewhere(self) -> bool:
        """Whether the zone it was scheduled in shows another time than the viewer's zone.

        Also true if that zone is unknown.
        """
        moment = self.release.scheduled_moment
        if moment is None or not moment.zone:
            return False
        viewer = timezone.localtime(moment.instant)
        return not moment.is_zone_known or moment.local.utcoffset() != viewer.utcoffset()

    @cached_property
    def lateness(self) -> timedelta | None:
        due_at = self.release.due_at
        if self.release.state != ReleaseState.SCHEDULED or due_at is None:
            return None
        late = clock.now() - due_at
        return late if late > timedelta() else None


def summarize(release: Release) -> ReleaseSummary:
    """Return the summary of a release with the names of its pages. Makes two queries."""
    items = release.items.order_by()
    counts = dict(items.values_list("state").annotate(count=Count("pk")))
    pages = items.values_list("page_name", flat=True).distinct().order_by("page_name")
    return ReleaseSummary(release, counts, tuple(pages))


def finished_rollbacks(release: Release) -> list[Release]:
    """Return the finished releases that rolled back versions of a release, earliest first.

    Each has the number of these versions in `live`. Returns none if `release` is not finished.
    """
    if release.state != ReleaseState.FINISHED:
        return []
    live = Count("items", filter=Q(items__state=ItemState.LIVE))
    rollbacks = release.rollbacks.filter(state=ReleaseState.FINISHED).annotate(live=live)
    return list(rollbacks.filter(live__gt=0).order_by("finished_at", "pk"))


def summarize_all(releases: Iterable[Release]) -> list[ReleaseSummary]:
    """Return the summaries of the releases, in order. Makes two queries, with the one for them."""
    releases = list(releases)
    counts: dict[int, dict[str, int]] = {}
    reviewed: dict[int, int] = {}
    items = ReleaseItem.objects.filter(release__in=releases).order_by()
    rows = items.values_list("release_id", "state").annotate(
        count=Count("pk"), reviewed=Count("reviewed_at")
    )
    for release_id, state, count, marked in rows:
        counts.setdefault(release_id, {})[state] = count
        reviewed[release_id] = reviewed.get(release_id, 0) + marked
    return [
        ReleaseSummary(release, counts.get(release.pk, {}), reviewed=reviewed.get(release.pk, 0))
        for release in releases
    ]
