"""The state of a release in a few words, for its head and for the agenda."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from zlib import crc32

from django.db.models import Count, Q
from django.utils import timezone

from dashboard.releases.models import (
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
    WorkerHeartbeat,
)
from dashboard.releases.worker import MISSING_AFTER
from dashboard.web.ui.time_zones import current_zone_name

Badge = tuple[str, str, str]
"""A label, an icon and a tone."""
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
    ItemState.IN_PROGRESS: ("In progress", "st-processing", "work"),
    ItemState.LIVE: ("Live now", "st-live", "ok"),
    ItemState.FAILED: ("Failed", "st-failed", "bad"),
    ItemState.HELD: ("Held", "st-held", "warn"),
    ItemState.UNKNOWN: ("Outcome unknown", "st-unknown", "warn"),
    ItemState.CANCELED: ("Not sent", "st-off", "plain"),
}
SENT = (
    *(ItemState.SENDING, ItemState.IN_PROGRESS, ItemState.LIVE),
    *(ItemState.FAILED, ItemState.UNKNOWN),
)
"""States of items for which a request was made."""


@dataclass(frozen=True)
class WorkerStatus:
    """When a worker was last active; None if never."""

    active_at: datetime | None

    @property
    def age(self) -> timedelta:
        """How long ago that was; 0 if never."""
        return timezone.now() - self.active_at if self.active_at else timedelta()

    @property
    def is_running(self) -> bool:
        """Whether a worker was active within the last minute."""
        return bool(self.active_at and timezone.now() - self.active_at < MISSING_AFTER)


def worker_status() -> WorkerStatus:
    """Return when a worker was last active."""
    last = WorkerHeartbeat.objects.order_by("-active_at").values_list("active_at", flat=True)
    return WorkerStatus(last.first())


@dataclass(frozen=True)
class ReleaseSummary:
    """A release with its items counted by state."""

    release: Release
    counts: dict[str, int]
    pages: tuple[str, ...] = ()
    """The names of the pages of its items; empty if they were not read."""
    reviewed: int = 0
    """How many items are marked as reviewed; 0 if they were not counted."""

    @property
    def total(self) -> int:
        """The number of items."""
        return sum(self.counts.values())

    def count(self, *states: str) -> int:
        """Return how many items are in these states."""
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def sent(self) -> int:
        """How many items a request was made for."""
        return self.count(*SENT)

    @property
    def live(self) -> int:
        """How many items went live."""
        return self.count(ItemState.LIVE)

    @property
    def in_progress(self) -> int:
        """How many items are being sent, or accepted and not live yet."""
        return self.count(ItemState.SENDING, ItemState.IN_PROGRESS)

    @property
    def not_sent(self) -> int:
        """How many items were not sent, whatever the reason."""
        return self.total - self.sent

    @property
    def badge(self) -> Badge:
        """The state as a word and a shape; of a finished release its result."""
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
        return "Done", "st-published", "ok"

    @property
    def result(self) -> str:
        """What became of the items so far: `47 of 100 sent, 38 live, 1 failed, 2 held`."""
        parts = [f"{self.sent} of {self.total} sent", f"{self.live} live"]
        if self.live == self.total:
            return f"{self.live} of {self.total} live"
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
        """Whether it is being published, or something that it sent is not live yet."""
        return self.release.state == ReleaseState.RUNNING or self.in_progress > 0

    @property
    def mark(self) -> str:
        """A short text that changes with its state and its result."""
        return f"{crc32(repr((self.badge, self.result)).encode()):x}"

    @property
    def needs_worker(self) -> bool:
        """Whether something is left to do that only a worker does."""
        waits = (
            *(ReleaseState.RUNNING, ReleaseState.SCHEDULED),
            ReleaseState.WAITING_FOR_APPROVAL,  # It expires, or is due.
        )
        return self.release.needs_check or self.release.state in waits

    @property
    def is_scheduled_elsewhere(self) -> bool:
        """Whether it was scheduled in another time zone than the viewer's."""
        zone = self.release.time_zone
        return bool(zone) and zone != current_zone_name()

    @cached_property
    def lateness(self) -> timedelta | None:
        """How late a scheduled release is; None if it is not."""
        due_at = self.release.due_at
        if self.release.state != ReleaseState.SCHEDULED or due_at is None:
            return None
        late = timezone.now() - due_at
        return late if late > timedelta() else None


def summarize(release: Release) -> ReleaseSummary:
    """Return the summary of one release, with the names of its pages. Two queries."""
    items = release.items.order_by()
    counts = dict(items.values_list("state").annotate(count=Count("pk")))
    pages = items.values_list("page_name", flat=True).distinct().order_by("page_name")
    return ReleaseSummary(release, counts, tuple(pages))


def finished_rollbacks(release: Release) -> list[Release]:
    """Return the finished releases that took back versions of a finished one, earliest first.

    Each has the number of these versions as `live`.
    """
    if release.state != ReleaseState.FINISHED:
        return []
    live = Count("items", filter=Q(items__state=ItemState.LIVE))
    rollbacks = release.rollbacks.filter(state=ReleaseState.FINISHED).annotate(live=live)
    return list(rollbacks.filter(live__gt=0).order_by("finished_at", "pk"))


def summarize_all(releases: Iterable[Release]) -> list[ReleaseSummary]:
    """Return the summaries of some releases, in order. Two queries, that of `releases` included."""
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
        ReleaseSummary(each, counts.get(each.pk, {}), reviewed=reviewed.get(each.pk, 0))
        for each in releases
    ]
