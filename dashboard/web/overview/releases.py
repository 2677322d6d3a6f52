"""Releases on the overview: held ones, running ones, and what is scheduled next."""

from dataclasses import dataclass
from functools import cached_property

from dashboard.releases.models import Release, ReleaseState
from dashboard.web.releases.summary import (
    ReleaseSummary,
    WorkerStatus,
    summarize_all,
    worker_status,
)

MAX_HELD = 10
MAX_RUNNING = 5
MAX_SCHEDULED = 5
MAX_AT_ONCE = 50
"""So many open releases are read by one query; of more, only those that are shown."""
STATES = (ReleaseState.HELD, ReleaseState.RUNNING, ReleaseState.SCHEDULED)


@dataclass(frozen=True)
class OpenReleases:
    """Some releases of each state, and the number of all."""

    held: list[ReleaseSummary]
    running: list[ReleaseSummary]
    scheduled: list[ReleaseSummary]
    """The next one due comes first."""
    held_count: int
    scheduled_count: int

    @cached_property
    def worker(self) -> WorkerStatus:
        """When a worker was last active."""
        return worker_status()


def read_open_releases() -> OpenReleases:
    """Return the releases that are held, running or scheduled. Two queries, eight with many."""
    open_releases = list(Release.objects.filter(state__in=STATES)[: MAX_AT_ONCE + 1])
    held, held_count = _some(open_releases, ReleaseState.HELD, "-held_at", MAX_HELD)
    running, _ = _some(open_releases, ReleaseState.RUNNING, "-started_at", MAX_RUNNING)
    scheduled, scheduled_count = _some(
        open_releases, ReleaseState.SCHEDULED, "due_at", MAX_SCHEDULED
    )
    summaries = {each.release.pk: each for each in summarize_all([*held, *running, *scheduled])}
    return OpenReleases(
        held=[summaries[each.pk] for each in held],
        running=[summaries[each.pk] for each in running],
        scheduled=[summaries[each.pk] for each in scheduled],
        held_count=held_count,
        scheduled_count=scheduled_count,
    )


def _some(
    open_releases: list[Release], state: str, order: str, limit: int
) -> tuple[list[Release], int]:
    """Return the first releases of a state, and the number of all."""
    if len(open_releases) > MAX_AT_ONCE:
        found = Release.objects.filter(state=state)
        return list(found.order_by(order, "pk")[:limit]), found.count()
    name = order.removeprefix("-")
    of_state = [release for release in open_releases if release.state == state]
    of_state.sort(key=lambda release: release.pk)
    of_state.sort(
        key=lambda release: getattr(release, name) or release.created_at,
        reverse=order.startswith("-"),
    )
    return of_state[:limit], len(of_state)
