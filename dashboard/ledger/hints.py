"""Hints: pages to read again, as an event was about one of their audiences.

An event is never trusted. All that it can do is have a page read again that the ledger knows: at
most once a second, and at most MAX_WAITING pages at a time. The rows are a queue, as in
`work/claims.py`.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Coalesce, Greatest

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import AudienceRecord, HintResult, PageHint, PageRecord
from dashboard.time_limits import CLAIM
from dashboard.work.claims import Claim

MAX_WAITING = 1_000
"""Pages. Source: our choice, as all limits here."""
MIN_INTERVAL = timedelta(seconds=1)
"""Between the beginnings of two reads of a page. Source: DESIGN.md."""
MAX_WAIT = timedelta(minutes=1)
"""A hint that could not be followed for so long is dropped."""


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
    """Let a page wait for a read; return False if there is no room for it."""
    waiting_since = Coalesce("waiting_since", now)
    # A page that waits, or is being read, keeps its time.
    queued = PageHint.objects.filter(page_id=page_id, wake_at__isnull=False)
    if queued.update(waiting_since=waiting_since):
        return True
    if PageHint.objects.filter(wake_at__isnull=False).count() >= MAX_WAITING:
        return False
    wake_at = Coalesce("wake_at", Greatest(F("not_before"), now))
    idle = PageHint.objects.filter(page_id=page_id)
    if not idle.update(waiting_since=waiting_since, wake_at=wake_at):
        new = PageHint(page_id=page_id, waiting_since=now, wake_at=now, not_before=now)
        # Another request may have inserted it just now.
        PageHint.objects.bulk_create([new], ignore_conflicts=True)
    return True


def claim_hints(worker_id: str, now: datetime, *, at_most: int) -> list[Claim[PageHint]]:
    """Claim the pages that have waited longest; drop what has waited too long. One query if none.

    A claimed page is not read again within a second, whatever becomes of this worker.
    """
    earliest = _EARLIEST.first()
    if earliest is None or earliest.wake_at > now:
        return []
    _drop(PageHint.objects.filter(wake_at__lte=now, waiting_since__lt=now - MAX_WAIT))
    with transaction.atomic():
        # As in `claim_next`, for several rows.
        unlocked = PageHint.objects.select_for_update(
            skip_locked=connection.features.has_select_for_update_skip_locked
        )
        due = list(unlocked.filter(wake_at__lte=now).order_by("wake_at")[:at_most])
        until = now + CLAIM
        claimed = PageHint.objects.filter(pk__in=[hint.pk for hint in due])
        # An event from now on may not be in the response any more: it has the page read again.
        claimed.update(
            worker_id=worker_id, wake_at=until, waiting_since=None, not_before=now + MIN_INTERVAL
        )
    for hint in due:
        hint.waiting_since = hint.waiting_since or now
    return [Claim(hint, worker_id, until, is_takeover=bool(hint.worker_id)) for hint in due]


def record_read(claim: Claim[PageHint], *, read_at: datetime, is_complete: bool) -> None:
    """Record that a claimed page was read, or is gone; an event since then has it read again."""
    is_waiting = When(waiting_since__isnull=False, then=F("not_before"))
    claim.let_go(Case(is_waiting, default=None), read_at=read_at if is_complete else None)


def put_off(claim: Claim[PageHint], until: datetime) -> None:
    """Let a claimed page that could not be read wait again."""
    claim.let_go(until, waiting_since=claim.row.waiting_since)


def delete_idle_hints(now: datetime) -> None:
    """Delete the rows of pages that nothing has happened to for a minute."""
    PageHint.objects.filter(wake_at=None, not_before__lt=now - MAX_WAIT).delete()


def last_hinted_read(page_id: str, *, since: datetime) -> datetime | None:
    """Return when the list of a page was last read because of an event, if after `since`."""
    found = _LAST_READ.first(page_id)
    return found.read_at if found and found.read_at > since else None


def _drop(rows: QuerySet[PageHint]) -> None:
    rows.update(wake_at=None, waiting_since=None, worker_id="")


def earliest_hint() -> "QuerySet[PageHint, Any]":
    """Return the time when a page is first to be read, or when a claim ends."""
    due = PageHint.objects.filter(wake_at__isnull=False).order_by("wake_at")
    return due.values_list("wake_at", named=True)[:1]


_EARLIEST = CompiledQuery(earliest_hint)
_LAST_READ = CompiledQuery(
    lambda page_id: PageHint.objects.filter(page_id=page_id, read_at__isnull=False).values_list(
        "read_at", named=True
    )[:1]
)
