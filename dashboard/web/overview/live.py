"""The part of the overview that is polled: versions in progress, releases, operations."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import cached_property

from dashboard.accounts.permissions import may
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.ledger.queries.operations import list_recent, operations_needing_attention
from dashboard.ledger.queries.pages import page_names
from dashboard.operations.publish_progress import TypicalTimes
from dashboard.releases.models import Release, ReleaseState
from dashboard.web.activity.operation_views import RIGHTS
from dashboard.web.activity.records import record_of
from dashboard.web.approvals.listing import badge_of, read_approval_overview
from dashboard.web.overview.in_flight import VersionsInFlight
from dashboard.web.releases.summary import (
    ReleaseSummary,
    WorkerStatus,
    summarize_all,
    worker_status,
)
from dashboard.web.ui.htmx import Request

MAX_RECENT = 8
OUTSIDE_PERIOD, MAX_OUTSIDE = timedelta(days=7), 5
"""The overview lists versions that went live outside Pressroom within this period."""
MAX_HELD = 10
MAX_RUNNING = 5
MAX_SCHEDULED = 5
MAX_AT_ONCE = 50
"""Up to this many open releases are read in one query; beyond it, only the displayed ones."""
STATES = (ReleaseState.HELD, ReleaseState.RUNNING, ReleaseState.SCHEDULED)


@dataclass(frozen=True)
class OpenReleases:
    """The first releases of each state, and how many are held and scheduled in all."""

    held: list[ReleaseSummary]
    running: list[ReleaseSummary]
    scheduled: list[ReleaseSummary]
    """The next release due comes first."""
    held_count: int
    scheduled_count: int

    @cached_property
    def worker(self) -> WorkerStatus:
        """The last activity of a worker."""
        return worker_status()


def read_open_releases() -> OpenReleases:
    """Return the releases that are held, running or scheduled.

    Makes two queries; with more than MAX_AT_ONCE releases, eight.
    """
    open_releases = list(Release.objects.filter(state__in=STATES)[: MAX_AT_ONCE + 1])
    held, held_count = _some(open_releases, ReleaseState.HELD, "-held_at", MAX_HELD)
    running, _ = _some(open_releases, ReleaseState.RUNNING, "-started_at", MAX_RUNNING)
    scheduled, scheduled_count = _some(
        open_releases, ReleaseState.SCHEDULED, "due_at", MAX_SCHEDULED
    )
    summaries = {
        summary.release.pk: summary for summary in summarize_all([*held, *running, *scheduled])
    }
    return OpenReleases(
        held=[summaries[release.pk] for release in held],
        running=[summaries[release.pk] for release in running],
        scheduled=[summaries[release.pk] for release in scheduled],
        held_count=held_count,
        scheduled_count=scheduled_count,
    )


def _some(
    open_releases: list[Release], state: str, order: str, limit: int
) -> tuple[list[Release], int]:
    """Return the first releases of a state, and how many there are in all."""
    if len(open_releases) > MAX_AT_ONCE:
        releases = Release.objects.filter(state=state)
        return list(releases.order_by(order, "pk")[:limit]), releases.count()
    name = order.removeprefix("-")
    of_state = [release for release in open_releases if release.state == state]
    of_state.sort(key=lambda release: release.pk)
    of_state.sort(
        key=lambda release: getattr(release, name) or release.created_at,
        reverse=order.startswith("-"),
    )
    return of_state[:limit], len(of_state)


def live_context(
    request: Request, now: datetime, usual: TypicalTimes | None, in_flight: VersionsInFlight
) -> dict[str, Any]:
    """Return the context of the part that is polled while something is in progress."""
    recent = list_recent(MAX_RECENT)
    attention = operations_needing_attention(now)
    releases = read_open_releases()
    outside = list(outside_publications(since=now - OUTSIDE_PERIOD)[: MAX_OUTSIDE + 1])
    page_ids = [operation.page_id for operation in recent]
    return {
        "usual": usual,
        "in_flight": in_flight,
        "is_moving": bool(
            in_flight.versions
            or releases.running
            or any(operation.outcome == Outcome.SENDING for operation in recent)
        ),
        "releases": releases,
        "approvals": read_approval_overview(request.user, now),
        "badge_of": badge_of,
        "page_names": page_names(
            [*page_ids, *(version.record.page_id for version in in_flight.versions)]
        ),
        "records": [record_of(operation) for operation in recent],
        "outside_publications": outside[:MAX_OUTSIDE],
        "outside_is_more": len(outside) > MAX_OUTSIDE,
        "attention_count": attention.count + in_flight.late_count + releases.held_count,
        "attention": attention,
        "attention_items": [
            (operation, may(request, RIGHTS[OperationKind(operation.kind)]))
            for operation in attention.operations
        ],
    }
