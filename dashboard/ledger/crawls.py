"""The claim and the state of the crawl: one row in the database.

The claim of a killed process ends by itself. Then another process continues where the last saved
part of the list began.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from dashboard.clock import CLAIM
from dashboard.ledger import feed
from dashboard.ledger.models import Crawl, CrawlState, FeedEntry, FeedKind
from dashboard.work.claims import Claim, claim_next

INTERVAL = timedelta(hours=1)
"""Time from the end of a crawl to the start of the next. Source: our choice, also for
RETRY_AFTER."""
RETRY_AFTER = timedelta(minutes=15)
"""Time until a crawl that failed or was stopped by hand continues."""


def get_crawl() -> Crawl | None:
    """Return the state of the crawl; None if no worker was ever started."""
    return Crawl.objects.filter(pk=1).first()


def schedule_first_crawl(now: datetime) -> None:
    Crawl.objects.get_or_create(pk=1, defaults={"wake_at": now})


def claim_crawl(worker_id: str, now: datetime) -> Claim[Crawl] | None:
    claim = claim_next(Crawl.objects.filter(pk=1), worker_id, now)
    if claim:
        is_new = claim.row.state in (CrawlState.WAITING, CrawlState.FINISHED)
        _begin(claim, now, is_new=is_new)
    return claim


def take_crawl(process_id: str, now: datetime) -> Claim[Crawl]:
    crawl, _ = Crawl.objects.get_or_create(pk=1)
    claim = Claim(crawl, process_id, now + CLAIM, is_takeover=False)
    Crawl.objects.filter(pk=1).update(worker_id=process_id, wake_at=claim.until)
    _begin(claim, now, is_new=True)
    return claim


def _begin(claim: Claim[Crawl], now: datetime, *, is_new: bool) -> None:
    if is_new:
        claim.row = Crawl(pk=1, started_at=now, finished_at=claim.row.finished_at)
    claim.row.state = CrawlState.RUNNING
    claim.row.pause_reason = claim.row.failure = ""
    save_crawl(claim)


def save_crawl(claim: Claim[Crawl]) -> None:
    """Save the progress and renew the claim. Raises ClaimLostError."""
    with claim.locked():
        _add_to_feed(claim.row)
        Crawl.objects.filter(pk=1).update(**_progress(claim.row))
        claim.extend()


def release_crawl(claim: Claim[Crawl], wake_at: datetime) -> bool:
    """Save the result, and when the crawl is due again; return whether the claim still held."""
    with transaction.atomic():
        _add_to_feed(claim.row)
        return claim.release(wake_at, **_progress(claim.row))


def _add_to_feed(crawl: Crawl) -> None:
    """Add that it begins, pauses, goes on or ends. How far it is shows by what it records."""
    state = {name: getattr(crawl, name) for name in ("state", "pause_reason", "failure")}
    if not Crawl.objects.filter(pk=1, **state).exists():
        feed.add(FeedEntry(kind=FeedKind.PAGE))


def _progress(crawl: Crawl) -> dict[str, Any]:
    of_claim = {"id", "wake_at", "worker_id"}
    names = {field.name for field in Crawl._meta.concrete_fields} - of_claim
    return {name: getattr(crawl, name) for name in names}
