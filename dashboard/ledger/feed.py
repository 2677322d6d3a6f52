"""The change feed: what changed on the screens since a poll, for every process and person.

Whatever changes what a screen shows adds an entry in its own transaction. A poll sends back the
cursor of the response before, and gets what was committed since, each entry once.

A plain "numbers above the last one" loses entries on PostgreSQL, where a transaction may commit
after others with higher numbers. There, positions are the numbers of transactions, and a poll gets
only those below `pg_snapshot_xmin`: all of these have ended, so none can appear later. The price:
one long transaction, also of another database of that server, holds the feed back. SQLite has one
writer at a time, so positions are those of entries.
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
from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import FeedEntry, FeedKind, Installation
from dashboard.work.tasks import WorkerTask

MAX_ENTRIES = 500
"""Of a response. With more, a page is faster reloaded than updated. Source: our choice."""
MAX_DELAY = timedelta(seconds=30)
"""A longer one is named. Source: our choice."""
ENTRY_LIFETIME = timedelta(days=7)
"""A page that has slept for longer is reloaded. Source: our choice."""

_WRITTEN = ("kind", "page_id", "audience_id", "object_id", "user_id", "actor_id", "at")


@dataclass(frozen=True)
class Changes:
    cursor: str
    """For the next poll."""
    entries: list[FeedEntry] = field(default_factory=list)
    must_reload: bool = False
    """The changes since this cursor can't be listed: anything may have changed."""
    delay_s: float | None = None
    """Since when newer entries are held back by an open transaction; None if none are."""


class _Head(NamedTuple):
    """The present end of the feed."""

    nonce: str
    pruned_to: int
    end: int
    """The first position that a poll does not get yet."""
    held_since: datetime | None
    """Time of the first entry from there on."""


def add(*entries: FeedEntry) -> None:
    """Record changes, within the transaction that makes them.

    A publish adds three. By Django's insert they would take 0.4 ms of it, so they take 0.08 ms.
    """
    row_sql = f"({', '.join(['%s'] * len(_WRITTEN))})"
    moment = connection.ops.adapt_datetimefield_value
    for start in range(0, len(entries), MAX_ENTRIES):
        batch = entries[start : start + MAX_ENTRIES]
        values = [getattr(entry, column) for entry in batch for column in _WRITTEN]
        values = [moment(value) if isinstance(value, datetime) else value for value in values]
        rows_sql = ", ".join([row_sql] * len(batch))
        with connection.cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "ledger_feedentry" ({", ".join(_WRITTEN)}) VALUES {rows_sql}',  # noqa: S608
                values,
            )


def add_changed(kind: FeedKind, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Add pages or audiences whose recorded body differs from the row before, or that are new."""
    entries = [
        FeedEntry(kind=kind, page_id=record.page_id, audience_id=getattr(record, "audience_id", ""))
        for before, record in pairs
        if before is None or before.digest != record.digest
    ]
    add(*entries)


def changes_since(cursor: str | None) -> Changes:
    """Return what changed since a cursor; without one, only the cursor to begin with.

    A page takes its first cursor before it reads what it shows. Not within a transaction that has
    written: that one would hold the feed back.
    """
    [head] = _HEAD.rows()
    feed_id = salted_hmac("feed", "", secret=head.nonce).hexdigest()[:12]
    held_s = (clock.now() - head.held_since).total_seconds() if head.held_since else None
    now = Changes(f"{feed_id}-{head.end}", delay_s=held_s)
    if cursor is None or cursor == now.cursor:
        return now
    start = _position(cursor, feed_id)
    if start is None or not head.pruned_to < start <= head.end:
        return Changes(now.cursor, must_reload=True, delay_s=held_s)
    entries = _ENTRIES.rows(start, head.end)
    if len(entries) > MAX_ENTRIES:
        return Changes(now.cursor, must_reload=True, delay_s=held_s)
    return Changes(now.cursor, entries, delay_s=held_s)


def delay_warning() -> str:
    """Return a sentence on a feed that is far behind; empty if it isn't."""
    delay = timedelta(seconds=changes_since(None).delay_s or 0)
    if delay <= MAX_DELAY:
        return ""
    return (
        f"Live updates are {in_words(delay)} behind. A transaction on the database server, perhaps "
        "of another database, has been open for at least as long."
    )


def visible_to(entries: Iterable[FeedEntry], user_id: int) -> list[FeedEntry]:
    """Return the entries for everybody, and those for this user alone."""
    return [entry for entry in entries if entry.user_id in (None, user_id)]


def prune_feed() -> None:
    """Delete entries that are too old, and remember the last of them: older cursors are invalid."""
    old = FeedEntry.objects.filter(at__lt=clock.now() - ENTRY_LIFETIME)
    [head] = _HEAD.rows()
    position = _position_column()
    with transaction.atomic():
        # What was copied from another server may have any number.
        last = old.filter(**{f"{position}__lt": head.end}).aggregate(last=Max(position))["last"]
        if last is not None:
            Installation.objects.filter(pk=1).update(
                feed_pruned_to=Greatest(F("feed_pruned_to"), last)
            )
        old.delete()


PRUNE_FEED = WorkerTask(lambda *_: prune_feed(), every_s=3_600.0)


def _position(cursor: str, feed_id: str) -> int | None:
    """Return the position of a cursor of this feed, or None if it is none."""
    name, _, digits = cursor.partition("-")
    is_valid = name == feed_id and digits.isascii() and digits.isdigit() and len(digits) < 19
    return int(digits) if is_valid else None


def _position_column() -> str:
    return "transaction" if connection.vendor == "postgresql" else "seq"


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


def _entries(start: int, end: int) -> "QuerySet[FeedEntry, Any]":
    position = _position_column()
    between = {f"{position}__gte": start, f"{position}__lt": end}
    entries = FeedEntry.objects.filter(**between).order_by("seq")[: MAX_ENTRIES + 1]
    return entries.values_list("seq", *_WRITTEN)


_HEAD = CompiledQuery(_Head._make, _head)
_ENTRIES = CompiledQuery(partial(FeedEntry.from_db, None, ("seq", *_WRITTEN)), _entries)
