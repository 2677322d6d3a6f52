"""Hints: pages to read again, because an event was about one of their audiences.

An event is never trusted. It can only have a recorded page read again, at most once a second, and
at most MAX_WAITING pages can wait. The rows are a queue (`work/claims.py`). It also has the pages
with a version in flight, which are read once for all open tabs.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Case, Exists, F, OuterRef, When
from django.db.models.functions import Coalesce, Greatest, Least

from dashboard import clock
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.queries.audiences import versions_in_flight
from dashboard.webhooks.models import HintResult, PageHint
from dashboard.work.claims import Claim, claim_due

MAX_WAITING = 1_000
"""Pages in the queue. Source of all limits here: our choice."""
MIN_INTERVAL = timedelta(seconds=1)
"""Time between the starts of two reads of a page."""
MAX_WAIT = timedelta(minutes=1)
"""A hint that has waited longer is dropped."""
FOLLOWED_READ_LASTS = timedelta(seconds=10)
"""How long open tabs rely on the last read by the worker. Source: our choice."""


def take_hint(page_id: str, audience_id: str, now: datetime) -> HintResult:
    """Have the page of an audience read again, if the ledger knows it.

    An event may name the audience alone, or an audience of a known page that was never seen.
    """
    if "\0" in page_id + audience_id:
        return HintResult.NOT_KNOWN
    known_page_id = _known_page_id(page_id, audience_id)
    if not known_page_id:
        return HintResult.NOT_KNOWN if page_id or audience_id else HintResult.NONE
    return HintResult.READ if _enqueue(known_page_id, now) else HintResult.TOO_MANY


def _known_page_id(page_id: str, audience_id: str) -> str:
    """Return the page to read; "" if it is not known, or audiences of several have this id."""
    if page_id:
        return page_id if PageRecord.objects.filter(page_id=page_id).exists() else ""
    if not audience_id:
        return ""
    audiences = AudienceRecord.objects.filter(audience_id=audience_id)
    page_ids = list(audiences.values_list("page_id", flat=True)[:2])
    return page_ids[0] if len(page_ids) == 1 else ""


def _enqueue(page_id: str, now: datetime) -> bool:
    waiting_since, soonest = Coalesce("waiting_since", now), Greatest(F("not_before"), now)
    queued = PageHint.objects.filter(page_id=page_id, wake_at__isnull=False)
    # A page that is being read keeps its time.
    wake_at = Case(When(worker_id="", then=Least("wake_at", soonest)), default=F("wake_at"))
    if queued.update(waiting_since=waiting_since, wake_at=wake_at):
        return True
    if PageHint.objects.filter(wake_at__isnull=False).count() >= MAX_WAITING:
        return False
    idle = PageHint.objects.filter(page_id=page_id)
    if not idle.update(waiting_since=waiting_since, wake_at=Coalesce("wake_at", soonest)):
        new = PageHint(page_id=page_id, waiting_since=now, wake_at=now, not_before=now)
        # Another request may have inserted it just now.
        PageHint.objects.bulk_create([new], ignore_conflicts=True)
    return True


def claim_hints(worker_id: str, now: datetime, *, at_most: int) -> list[Claim[PageHint]]:
    """Claim the pages that have waited longest; drop what has waited too long.

    A claimed page is not read again within a second, even if this worker dies.
    """
    too_old = PageHint.objects.filter(wake_at__lte=now, waiting_since__lt=now - MAX_WAIT)
    too_old.update(wake_at=None, waiting_since=None, worker_id="", followed_at=None)
    # The response may miss events that arrive after this, so they have the page read again.
    columns = {"waiting_since": None, "not_before": now + MIN_INTERVAL}
    return claim_due(PageHint.objects.all(), worker_id, now, at_most=at_most, **columns)


def record_read(
    claim: Claim[PageHint],
    *,
    read_at: datetime,
    is_complete: bool,
    again_at: datetime | None = None,
) -> None:
    """Record that a claimed page was read or is gone. A later event has it read again."""
    is_waiting = When(waiting_since__isnull=False, then=F("not_before"))
    claim.release(Case(is_waiting, default=again_at), read_at=read_at if is_complete else None)


def postpone(claim: Claim[PageHint], until: datetime, *, is_followed: bool = False) -> None:
    waiting_since = claim.row.waiting_since or (None if is_followed else clock.now())
    claim.release(until, waiting_since=waiting_since)


def delete_idle_hints(now: datetime) -> None:
    """Delete rows that have been idle for a minute and have no version in flight."""
    in_flight = versions_in_flight().filter(page_id=OuterRef("page_id"))
    idle = PageHint.objects.filter(wake_at=None, not_before__lt=now - MAX_WAIT)
    idle.filter(~Exists(in_flight)).delete()


def follow(page_id: str, changed_at: datetime, wake_at: datetime | None) -> None:
    """Have a page read from `wake_at`, for a version recorded as in flight.

    If `wake_at` is None, only record that the version was considered.
    """
    PageHint.objects.get_or_create(page_id=page_id, defaults={"not_before": changed_at})
    PageHint.objects.filter(page_id=page_id).update(
        followed_at=changed_at, wake_at=Coalesce("wake_at", wake_at)
    )


def followed_pages(page_ids: Iterable[str], now: datetime) -> dict[str, datetime]:
    """Return when a worker last read each of these pages that it follows.

    Nobody else needs to read them. Pages without a recent read are left out.
    """
    hints = PageHint.objects.filter(
        page_id__in=page_ids, wake_at__isnull=False, read_at__gt=now - FOLLOWED_READ_LASTS
    )
    return {hint.page_id: hint.read_at for hint in hints if hint.read_at}
