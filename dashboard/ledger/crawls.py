"""Who may crawl, and what is known of the crawl: one row, claimed in the database.

A killed process leaves its claim, which ends by itself; then another one continues where the last
saved part of the list began.
"""

from datetime import datetime, timedelta
from typing import Any

from dashboard.clock import CLAIM
from dashboard.ledger.models import Crawl, CrawlState
from dashboard.work.claims import Claim, claim_next

INTERVAL = timedelta(hours=1)
"""From the end of a crawl to the start of the next. Source: our choice, as the next."""
RETRY_AFTER = timedelta(minutes=15)
"""When a crawl that failed, or was stopped by hand, is continued."""


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
        Crawl.objects.filter(pk=1).update(**_progress(claim.row))
        claim.extend()


def let_go_of_crawl(claim: Claim[Crawl], wake_at: datetime) -> bool:
    """Save the result, and when the crawl is due again; return whether the claim still held."""
    return claim.let_go(wake_at, **_progress(claim.row))


def _progress(crawl: Crawl) -> dict[str, Any]:
    of_claim = {"id", "wake_at", "worker_id"}
    names = {field.name for field in Crawl._meta.concrete_fields} - of_claim
    return {name: getattr(crawl, name) for name in names}
