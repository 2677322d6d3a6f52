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
    """Return the releases that are held, running or scheduled. At most six queries."""
    held, held_count = _some(ReleaseState.HELD, "-held_at", MAX_HELD)
    running, _ = _some(ReleaseState.RUNNING, "-started_at", MAX_RUNNING)
    scheduled, scheduled_count = _some(ReleaseState.SCHEDULED, "due_at", MAX_SCHEDULED)
    summaries = {each.release.pk: each for each in summarize_all([*held, *running, *scheduled])}
    return OpenReleases(
        held=[summaries[each.pk] for each in held],
        running=[summaries[each.pk] for each in running],
        scheduled=[summaries[each.pk] for each in scheduled],
        held_count=held_count,
        scheduled_count=scheduled_count,
    )


def _some(state: str, order: str, limit: int) -> tuple[list[Release], int]:
    """Return the first releases of a state, and the number of all."""
    found = Release.objects.filter(state=state)
    first = list(found.order_by(order, "pk")[: limit + 1])
    return first[:limit], found.count() if len(first) > limit else len(first)
