"""Who may crawl, and what is known of the crawl: one row, claimed in the database.

A killed process leaves its claim, which ends by itself; then another one continues where the last
saved part of the list began.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from dashboard.ledger.models import Crawl, CrawlState

CLAIM = timedelta(seconds=30)
"""It is renewed every few seconds."""
INTERVAL = timedelta(hours=1)
"""From the end of a crawl to the start of the next. Source: our choice, as all times here."""
RETRY_AFTER = timedelta(minutes=15)
"""When a crawl that failed, or was stopped by hand, is continued."""


class CrawlTakenError(Exception):
    """Another process has taken the crawl over: this one must stop."""


def get_crawl() -> Crawl | None:
    """Return the state of the crawl; None if no worker was ever started."""
    return Crawl.objects.filter(pk=1).first()


def schedule_first_crawl(now: datetime) -> None:
    """Have a worker crawl if there was no crawl yet."""
    Crawl.objects.get_or_create(pk=1, defaults={"wake_at": now})


def claim_crawl(worker_id: str, now: datetime) -> Crawl | None:
    """Claim the crawl if it is due, to begin or continue it."""
    crawl = get_crawl()
    if crawl is None or crawl.wake_at > now:
        return None
    is_new = crawl.state in (CrawlState.WAITING, CrawlState.FINISHED)
    return _claim(crawl, worker_id, now, is_new=is_new)


def take_crawl(process_id: str, now: datetime) -> Crawl:
    """Claim the crawl at once, from whoever has it, and begin a new one."""
    while True:
        crawl, _ = Crawl.objects.get_or_create(pk=1, defaults={"wake_at": now})
        if claimed := _claim(crawl, process_id, now, is_new=True):
            return claimed


def _claim(crawl: Crawl, worker_id: str, now: datetime, *, is_new: bool) -> Crawl | None:
    """Save the claim; return None if another process was faster."""
    unclaimed = _row(crawl)
    if is_new:
        finished_at = crawl.finished_at
        crawl = Crawl(pk=1, wake_at=now, started_at=now, finished_at=finished_at)
    crawl.state, crawl.worker_id, crawl.wake_at = CrawlState.RUNNING, worker_id, now + CLAIM
    crawl.pause_reason = crawl.failure = ""
    return crawl if unclaimed.update(**_values(crawl)) else None


def save_crawl(crawl: Crawl, *, until: datetime | None = None) -> None:
    """Save the progress and renew the claim. Raises CrawlTakenError if it was taken.

    With `until`, the claim is given back, and the crawl is due again at that time.
    """
    claimed = _row(crawl)
    crawl.wake_at = until or timezone.now() + CLAIM
    if until:
        crawl.worker_id = ""
    if not claimed.update(**_values(crawl)):
        raise CrawlTakenError


def earliest_crawl() -> "QuerySet[Crawl, Any]":
    """Return the time when a crawl is due, or when its claim ends."""
    return Crawl.objects.filter(pk=1).values_list("wake_at", named=True)


def _row(crawl: Crawl) -> "QuerySet[Crawl]":
    """Return the row as long as nobody has changed the claim."""
    return Crawl.objects.filter(pk=1, worker_id=crawl.worker_id, wake_at=crawl.wake_at)


def _values(crawl: Crawl) -> dict[str, Any]:
    fields = Crawl._meta.concrete_fields
    return {field.name: getattr(crawl, field.name) for field in fields if not field.primary_key}
