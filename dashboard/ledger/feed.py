"""The change feed: what changed on the screens since a poll, for every process and person.

Code that changes what a screen shows adds an entry in the same transaction. A poll sends the cursor
of the last response, and gets the entries committed since, each once.

Polling for "numbers above the last one" would lose entries on PostgreSQL, where a transaction may
commit after others with higher numbers. There, an entry's position is the number of its
transaction, and a poll gets only positions below `pg_snapshot_xmin`: all these transactions have
ended, so none can appear later. The price is that one long transaction holds the feed back, even in
another database of that server. SQLite has one writer at a time, so there an entry's position is
its own number.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import F, Max, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest
from django.utils.crypto import salted_hmac

from dashboard import clock
from dashboard.clock import in_words
from dashboard.compiled_query import compiled
from dashboard.ledger.models import FeedEntry, FeedKind, Installation
from dashboard.work.tasks import WorkerTask

MAX_ENTRIES = 500
"""Entries in a response. With more, reloading a page is faster than updating it. Source: our
choice."""
MAX_DELAY = timedelta(seconds=30)
"""A longer delay raises a warning. Source: our choice."""
ENTRY_LIFETIME = timedelta(days=7)
"""A page that has slept for longer is reloaded. Source: our choice."""

_COLUMNS = ("seq", "kind", "page_id", "audience_id", "object_id", "user_id", "actor_id", "at")


@dataclass(frozen=True)
class Changes:
    cursor: str
    entries: list[FeedEntry] = field(default_factory=list)
    must_reload: bool = False
    """Whether the changes since the cursor can't be listed, so that anything may have changed."""
    delay_s: float | None = None
    """How long an open transaction has held back newer entries, in seconds; None if none does."""


class _Head(NamedTuple):
    nonce: str
    pruned_to: int
    end: int
    """The first position that a poll does not get yet."""
    held_since: datetime | None
    """Time of the first entry at or after `end`."""


def add(*entries: FeedEntry) -> None:
    """Record changes. Call in the transaction that makes them."""
    FeedEntry.objects.bulk_create(entries)


def add_audiences(*keys: tuple[str, str], actor_id: int | None = None) -> None:
    """Add entries for audiences that changed in Pressroom, but not at the service."""
    add(
        *(
            FeedEntry(
                kind=FeedKind.AUDIENCE, page_id=page_id, audience_id=audience_id, actor_id=actor_id
            )
            for page_id, audience_id in keys
        )
    )


def add_changed(kind: FeedKind, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Add entries for pages or audiences that are new or whose recorded body has changed."""
    entries = [
        FeedEntry(kind=kind, page_id=record.page_id, audience_id=getattr(record, "audience_id", ""))
        for before, record in pairs
        if before is None or before.digest != record.digest
    ]
    add(*entries)


def changes_since(cursor: str | None) -> Changes:
    """Return the changes since a cursor; without one, only the cursor to begin with.

    A page takes its first cursor before it reads its content. Don't call this in a transaction that
    has written: that transaction would hold the feed back.
    """
    [head] = _head.rows()
    feed_id = salted_hmac("feed", "", secret=head.nonce).hexdigest()[:12]
    held_s = (clock.now() - head.held_since).total_seconds() if head.held_since else None
    now = Changes(f"{feed_id}-{head.end}", delay_s=held_s)
    if cursor is None or cursor == now.cursor:
        return now
    start = _position(cursor, feed_id)
    if start is None or not head.pruned_to < start <= head.end:
        return Changes(now.cursor, must_reload=True, delay_s=held_s)
    entries = _entries.rows(start, head.end)
    if len(entries) > MAX_ENTRIES:
        return Changes(now.cursor, must_reload=True, delay_s=held_s)
    return Changes(now.cursor, entries, delay_s=held_s)


def delay_warning() -> str:
    """Return a sentence if the feed is far behind, else an empty string."""
    delay = timedelta(seconds=changes_since(None).delay_s or 0)
    if delay <= MAX_DELAY:
        return ""
    return (
        f"Live updates are {in_words(delay)} behind. A transaction on the database server, perhaps "
        "of another database, has been open for at least as long."
    )


def visible_to(entries: Iterable[FeedEntry], user_id: int) -> list[FeedEntry]:
    return [entry for entry in entries if entry.user_id in (None, user_id)]


def prune_feed() -> None:
    """Delete old entries, and store the position of the last one: older cursors are invalid."""
    old = FeedEntry.objects.filter(at__lt=clock.now() - ENTRY_LIFETIME)
    [head] = _head.rows()
    position = _position_column()
    with transaction.atomic():
        # Entries copied from another server may have any number.
        last = old.filter(**{f"{position}__lt": head.end}).aggregate(last=Max(position))["last"]
        if last is not None:
            Installation.objects.filter(pk=1).update(
                feed_pruned_to=Greatest(F("feed_pruned_to"), last)
            )
        old.delete()


PRUNE_FEED = WorkerTask(lambda *_: prune_feed(), every_s=3_600.0)


def _position(cursor: str, feed_id: str) -> int | None:
    """Return the position of a cursor of this feed; None if it is invalid."""
    name, _, digits = cursor.partition("-")
    is_valid = name == feed_id and digits.isascii() and digits.isdigit() and len(digits) < 19
    return int(digits) if is_valid else None


def _position_column() -> str:
    return "transaction" if connection.vendor == "postgresql" else "seq"


@compiled(_Head._make)
def _head() -> "QuerySet[Installation, Any]":
    if connection.vendor == "postgresql":
        end: Any = RawSQL("pg_snapshot_xmin(pg_current_snapshot())::text::bigint", ())
        held = FeedEntry.objects.filter(transaction__gte=end).order_by("transaction")
    else:
        newest = Subquery(FeedEntry.objects.order_by("-seq").values("seq")[:1])
        end = Greatest(Coalesce(newest, 0), F("feed_pruned_to")) + 1
        held = FeedEntry.objects.none()
    held_since = Subquery(held.values("at")[:1])
    columns = Installation.objects.filter(pk=1).annotate(end=end, held_since=held_since)
    return columns.values_list("nonce", "feed_pruned_to", "end", "held_since")


@compiled(partial(FeedEntry.from_db, None, _COLUMNS))
def _entries(start: int, end: int) -> "QuerySet[FeedEntry, Any]":
    position = _position_column()
    between = {f"{position}__gte": start, f"{position}__lt": end}
    entries = FeedEntry.objects.filter(**between).order_by("seq")[: MAX_ENTRIES + 1]
    return entries.values_list(*_COLUMNS)
