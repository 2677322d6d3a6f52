"""Read the pages that events were about, and those with a version in flight.

Releases whose items have changed are woken. While the progress of a version is polled, its page is
read every three seconds for all open tabs together.

An event decides nothing, because anyone may send one. Only the service's response is recorded, and
a release reads the service itself to follow its items.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from threading import Event

from django.db.models import Exists, Max, OuterRef, QuerySet

from dashboard import clock
from dashboard.client import APIError, NotFoundError, RateLimitedError
from dashboard.contract.audiences import Audience
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import VersionRecord
from dashboard.ledger.queries.audiences import (
    audiences_last_known,
    in_progress_since,
    versions_in_flight,
)
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.releases.checking import MAX_PARALLEL_CALLS
from dashboard.releases.following import audience_changed, wake_releases
from dashboard.releases.models import ItemState, ReleaseItem
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import read_audiences
from dashboard.webhooks.hints import claim_hints, delete_idle_hints, follow, postpone, record_read
from dashboard.webhooks.models import PageHint
from dashboard.work.claims import Claim, all_renewed, earliest
from dashboard.work.tasks import WorkerTask, attempt_each

PACE_S = 0.5
"""Pause between batches of MAX_PARALLEL_CALLS, so a worker makes at most ten calls a second."""
READ_EVERY = timedelta(seconds=3)
"""Interval between reads of a page with a version in flight, by anyone."""
MAX_IN_FLIGHT = 20
"""Number of versions whose pages are followed, newest first. Source: our choice.

An open tab reads the pages of other versions itself.
"""
RETRY_AFTER = timedelta(seconds=5)
"""Wait before a page that could not be read is read again."""
MAX_PAUSE_S = 60.0
"""Maximum pause after a 429, regardless of Retry-After."""


def follow_hints(worker_id: str, stop: Event) -> None:
    """Read pages that events were about until stopped; the reads in progress are finished."""
    follow_in_flight(clock.now())
    pause_s = read_hinted(worker_id)
    while pause_s is not None and not stop.wait(max(PACE_S, pause_s)):
        follow_in_flight(clock.now())
        pause_s = read_hinted(worker_id)


def follow_in_flight(now: datetime) -> None:
    """Begin to follow the pages of versions that were recorded as in flight since the last time."""
    for version in unfollowed():
        wake_at = now if is_in_progress(version, now) else None
        follow(version.page_id, version.last_seen_at, wake_at)


def newest_in_flight() -> QuerySet[VersionRecord]:
    newest = versions_in_flight()[:MAX_IN_FLIGHT]
    return VersionRecord.objects.filter(pk__in=newest.values("pk")).order_by("last_seen_at")


def unfollowed() -> QuerySet[VersionRecord]:
    begun = {"page_id": OuterRef("page_id"), "followed_at__gte": OuterRef("last_seen_at")}
    return newest_in_flight().filter(~Exists(PageHint.objects.filter(**begun)))


def next_read(page_id: str, read_at: datetime) -> datetime | None:
    """Return when to read a page again after a read; None if nothing on it is in progress."""
    newest = newest_in_flight().filter(page_id=page_id)
    is_moving = any(is_in_progress(version, read_at) for version in newest)
    return read_at + READ_EVERY if is_moving else None


def is_in_progress(version: VersionRecord, now: datetime) -> bool:
    """Return whether to keep reading the page of a version in flight; False if it is stuck."""
    since = in_progress_since(version.version)
    # The date may be in the future.
    since = min(since, version.last_seen_at) if since else version.last_seen_at
    return now - since <= POLLING_PERIOD


def read_hinted(worker_id: str) -> float | None:
    """Read some of the pages that are due; return for how many seconds to pause, mostly 0.

    Returns None if none was due.
    """
    read_at = clock.now()
    claims = claim_hints(worker_id, read_at, at_most=MAX_PARALLEL_CALLS)
    if not claims:
        return None
    audiences = publishing_client().audiences
    with all_renewed(claims):
        due = [claim for claim in claims if not _skip(claim, read_at)]
        calls = {
            claim.row.pk: run_concurrently(partial(audiences.list, claim.row.page_id))
            for claim in due
        }
        pauses_s = attempt_each(
            due,
            lambda claim: _read(claim, calls[claim.row.pk], read_at),
            lambda claim: postpone(claim, clock.now() + RETRY_AFTER),
        )
    delete_idle_hints(read_at)
    return max(pauses_s, default=0.0)


def _skip(claim: Claim[PageHint], now: datetime) -> bool:
    """Put off a page that was just read elsewhere and has no new event; return whether it was."""
    row = claim.row
    if row.waiting_since or not row.followed_at:
        return False
    last = audiences_last_known(row.page_id).aggregate(at=Max("last_seen_at"))["at"]
    is_recent = last is not None and last > now - READ_EVERY
    return is_recent and claim.release(last + READ_EVERY)


def _read(
    claim: Claim[PageHint], call: Callable[[], ListEnvelope[Audience]], read_at: datetime
) -> float:
    """Record a page's list and wake its releases; return the pause in seconds."""
    page_id = claim.row.page_id
    try:
        reading = read_audiences(page_id, listing=call, read_at=read_at)
        error = reading.error
    except NotFoundError:
        record_read(claim, read_at=read_at, is_complete=False)
        return 0.0
    except APIError as raised:
        error = raised
    again_at = next_read(page_id, read_at) if claim.row.followed_at else None
    if error:
        postpone(claim, clock.now() + RETRY_AFTER, is_followed=again_at is not None)
        if not isinstance(error, RateLimitedError):
            return 0.0
        return min(error.retry_after_s or RETRY_AFTER.total_seconds(), MAX_PAUSE_S)
    is_complete = not (reading.value.has_more or reading.value.unreadable_items)
    record_read(claim, read_at=read_at, is_complete=is_complete, again_at=again_at)
    in_progress = ReleaseItem.objects.filter(page_id=page_id, state=ItemState.IN_PROGRESS)
    wake_releases(in_progress.filter(audience_changed()), clock.now())
    return 0.0


FOLLOW_HINTS = WorkerTask(
    follow_hints,
    due=(
        partial(earliest, PageHint.objects.all),
        # A time in the past, once a version is recorded as in flight.
        lambda: unfollowed().values_list("last_seen_at", named=True)[:1],
    ),
)
