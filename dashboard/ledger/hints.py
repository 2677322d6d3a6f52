"""Hints: pages to read again, as an event was about one of their audiences.

An event is never trusted. All that it can do is have a page read again that the ledger knows: at
most once a second, and at most MAX_WAITING pages at a time. The rows are the queue, and a claim is
the pair of `worker_id` and `due_at`, the time when it ends, as for releases.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Coalesce, Greatest

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import AudienceRecord, HintResult, PageHint, PageRecord

MAX_WAITING = 1_000
"""Pages. Source: our choice, as all limits here."""
MIN_INTERVAL = timedelta(seconds=1)
"""Between the beginnings of two reads of a page. Source: DESIGN.md."""
MAX_WAIT = timedelta(minutes=1)
"""A hint that could not be followed for so long is dropped."""
CLAIM = timedelta(seconds=30)
"""If a read takes longer, or its worker was killed, another one reads the page."""


@dataclass(frozen=True)
class ClaimedHint:
    """The right of one worker to read a page until a time."""

    pk: int
    page_id: str
    worker_id: str
    until: datetime
    waiting_since: datetime
    """When the first event arrived that no read has followed yet."""


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
    queued = PageHint.objects.filter(page_id=page_id, due_at__isnull=False)
    if queued.update(waiting_since=waiting_since):
        return True
    if PageHint.objects.filter(due_at__isnull=False).count() >= MAX_WAITING:
        return False
    due_at = Coalesce("due_at", Greatest(F("not_before"), now))
    idle = PageHint.objects.filter(page_id=page_id)
    if not idle.update(waiting_since=waiting_since, due_at=due_at):
        new = PageHint(page_id=page_id, waiting_since=now, due_at=now, not_before=now)
        # Another request may have inserted it just now.
        PageHint.objects.bulk_create([new], ignore_conflicts=True)
    return True


def claim_hints(worker_id: str, now: datetime, *, at_most: int) -> list[ClaimedHint]:
    """Claim the pages that have waited longest; drop what has waited too long. One query if none.

    A claimed page is not read again within a second, whatever becomes of this worker.
    """
    earliest = _EARLIEST.first()
    if earliest is None or earliest.due_at > now:
        return []
    _drop(PageHint.objects.filter(due_at__lte=now, waiting_since__lt=now - MAX_WAIT))
    with transaction.atomic():
        # As in `work/claims.py`.
        unlocked = PageHint.objects.select_for_update(
            skip_locked=connection.features.has_select_for_update_skip_locked
        )
        due = list(unlocked.filter(due_at__lte=now).order_by("due_at")[:at_most])
        until = now + CLAIM
        claimed = PageHint.objects.filter(pk__in=[hint.pk for hint in due])
        # An event from now on may not be in the response any more: it has the page read again.
        claimed.update(
            worker_id=worker_id, due_at=until, waiting_since=None, not_before=now + MIN_INTERVAL
        )
    return [
        ClaimedHint(hint.pk, hint.page_id, worker_id, until, hint.waiting_since or now)
        for hint in due
    ]


def record_read(hint: ClaimedHint, *, read_at: datetime, is_complete: bool) -> None:
    """Record that a claimed page was read, or is gone; an event since then has it read again."""
    is_waiting = When(waiting_since__isnull=False, then=F("not_before"))
    _claimed(hint).update(
        worker_id="",
        due_at=Case(is_waiting, default=None),
        read_at=read_at if is_complete else None,
    )


def put_off(hint: ClaimedHint, until: datetime) -> None:
    """Let a claimed page that could not be read wait again."""
    _claimed(hint).update(worker_id="", due_at=until, waiting_since=hint.waiting_since)


def delete_idle_hints(now: datetime) -> None:
    """Delete the rows of pages that nothing has happened to for a minute."""
    PageHint.objects.filter(due_at=None, not_before__lt=now - MAX_WAIT).delete()


def last_hinted_read(page_id: str, *, since: datetime) -> datetime | None:
    """Return when the list of a page was last read because of an event, if after `since`."""
    found = _LAST_READ.first(page_id)
    return found.read_at if found and found.read_at > since else None


def _claimed(hint: ClaimedHint) -> QuerySet[PageHint]:
    """Return the row of a claimed page, as long as the claim holds."""
    return PageHint.objects.filter(pk=hint.pk, worker_id=hint.worker_id, due_at=hint.until)


def _drop(rows: QuerySet[PageHint]) -> None:
    rows.update(due_at=None, waiting_since=None, worker_id="")


def earliest_hint() -> "QuerySet[PageHint, Any]":
    """Return the time when a page is first to be read, or when a claim ends."""
    due = PageHint.objects.filter(due_at__isnull=False).order_by("due_at")
    return due.values_list("due_at", named=True)[:1]


_EARLIEST = CompiledQuery(earliest_hint)
_LAST_READ = CompiledQuery(
    lambda page_id: PageHint.objects.filter(page_id=page_id, read_at__isnull=False).values_list(
        "read_at", named=True
    )[:1]
)
