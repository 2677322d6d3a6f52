"""Read the pages that events were about, and wake the releases whose items have changed.

An event decides nothing, as anyone may send one: what the service returns is recorded, as by any
other read, and a release follows its items by a read of its own.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from threading import Event

from dashboard import clock
from dashboard.client import APIError, NotFoundError, RateLimitedError
from dashboard.contract.audiences import Audience
from dashboard.contract.resource import ListEnvelope
from dashboard.releases.checking import MAX_PARALLEL_CALLS
from dashboard.releases.following import audience_changed, wake_releases
from dashboard.releases.models import ItemState, ReleaseItem
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import read_audiences
from dashboard.webhooks.hints import claim_hints, delete_idle_hints, put_off, record_read
from dashboard.webhooks.models import PageHint
from dashboard.work.claims import Claim, all_renewed, earliest
from dashboard.work.tasks import WorkerTask, attempt_each

PACE_S = 0.5
"""After some pages were read. A worker makes MAX_PARALLEL_CALLS each time, ten a second."""
RETRY_AFTER = timedelta(seconds=5)
"""When a page that could not be read is read again."""
MAX_PAUSE_S = 60.0
"""After a 429, whatever its Retry-After."""


def follow_hints(worker_id: str, stop: Event) -> None:
    """Read pages that events were about until stopped; the reads in progress are finished."""
    pause_s = read_hinted(worker_id)
    while pause_s is not None and not stop.wait(max(PACE_S, pause_s)):
        pause_s = read_hinted(worker_id)


def read_hinted(worker_id: str) -> float | None:
    """Read some of the pages that are due; return for how many seconds to pause, mostly 0.

    Returns None if none was due.
    """
    read_at = clock.now()
    claims = claim_hints(worker_id, read_at, at_most=MAX_PARALLEL_CALLS)
    if not claims:
        return None
    audiences = publishing_client().audiences
    pauses_s = [0.0]
    with all_renewed(claims):
        attempt_each(
            [
                (claim, run_concurrently(partial(audiences.list, claim.row.page_id)))
                for claim in claims
            ],
            lambda call: pauses_s.append(_read(*call, read_at)),
            lambda call: put_off(call[0], clock.now() + RETRY_AFTER),
        )
    delete_idle_hints(read_at)
    return max(pauses_s)


def _read(
    claim: Claim[PageHint], call: Callable[[], ListEnvelope[Audience]], read_at: datetime
) -> float:
    """Record a page's list, and wake what waits for a change; return the pause in seconds."""
    try:
        reading = read_audiences(claim.row.page_id, listing=call, read_at=read_at)
        error = reading.error
    except NotFoundError:
        record_read(claim, read_at=read_at, is_complete=False)
        return 0.0
    except APIError as raised:
        error = raised
    if error:
        put_off(claim, clock.now() + RETRY_AFTER)
        if not isinstance(error, RateLimitedError):
            return 0.0
        return min(error.retry_after_s or RETRY_AFTER.total_seconds(), MAX_PAUSE_S)
    is_complete = not (reading.value.has_more or reading.value.unreadable_items)
    record_read(claim, read_at=read_at, is_complete=is_complete)
    in_progress = ReleaseItem.objects.filter(page_id=claim.row.page_id, state=ItemState.IN_PROGRESS)
    wake_releases(in_progress.filter(audience_changed()), clock.now())
    return 0.0


FOLLOW_HINTS = WorkerTask(follow_hints, due=(partial(earliest, PageHint.objects.all),))
