"""Compare a response with the ledger, and write what is newer.

`compare_…` return which objects changed, and which need a new last_seen_at. The statement that
writes a row also decides whether it is newer, because two reads may be recorded at the same moment,
in any order. Django's own upsert takes no condition.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection, models
from django.db.models import Exists, F, Q, QuerySet, Subquery

from dashboard.compiled_query import compiled
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import AudienceRecord, ListTotal, PageRecord
from dashboard.ledger.models.objects import (
    FLAG_COLUMNS,
    IN_FLIGHT,
    audience_search_text,
    page_search_text,
)

PAGES_LIST = "pages"
LAST_SEEN_WRITE_INTERVAL = timedelta(minutes=1)
"""Minimum interval between updates of `last_seen_at` for unchanged objects. Stored times may lag by
this much. Source: our choice."""
LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT = timedelta(seconds=1)
"""The same for versions in flight, which many users poll, and for objects that have just changed: a
read of the earlier state may still be on its way."""
CHANGED_AT = "changed_at"
"""A column that `upsert_newer` updates only if the digest of the row differs."""
MAX_NAME_CHARACTERS, MAX_WORD_CHARACTERS = 500, 100
"""Maximum lengths of indexed columns. PostgreSQL limits an index entry to 2,704 bytes, and the
service may send any length. The body has the whole text."""

PRESERVED = {"first_seen_at", "audiences_count_read", "assignee", *FLAG_COLUMNS}
"""Columns that keep their values when a page or an audience is recorded again."""

ModelT = TypeVar("ModelT", bound=WireModel)


class RecordedPage(NamedTuple):
    """Some columns of the stored record of a page, and the total of the list."""

    page_id: str
    name: str
    page_type: str
    status: str
    total_count: int | None
    digest: str
    last_seen_at: datetime
    changed_at: datetime
    searched: str


class RecordedAudience(NamedTuple):
    """Some columns of the stored record of an audience; without its long body."""

    audience_id: str
    name: str
    archived: bool
    latest_version_id: str
    latest_version_number: int | None
    latest_status: str
    live_version_id: str
    live_version_number: int | None
    live_status: str
    in_progress_since: datetime | None
    is_unread: bool
    """Whether the page's audiences haven't been read since their number changed."""
    digest: str
    last_seen_at: datetime
    changed_at: datetime
    searched: str


RecordedT = TypeVar("RecordedT", RecordedPage, RecordedAudience)


def pages_total() -> "QuerySet[ListTotal, int]":
    """Return the service's last total of its list of pages: one row or none."""
    return ListTotal.objects.filter(list_name=PAGES_LIST).values_list("total_count", flat=True)


def audiences_unread() -> Q:
    """Match the pages whose audiences haven't been read since their number changed."""
    return Q(audiences_count__gt=0) & (
        Q(audiences_count_read=None) | ~Q(audiences_count_read=F("audiences_count"))
    )


@compiled(RecordedPage._make)
def _recorded_pages(page_ids: list[str]) -> "QuerySet[PageRecord, Any]":
    pages = PageRecord.objects.filter(page_id__in=page_ids)
    return pages.annotate(total_count=Subquery(pages_total())).values_list(*RecordedPage._fields)


@compiled(RecordedAudience._make)
def _recorded_audiences(page_id: str) -> "QuerySet[AudienceRecord, Any]":
    # All audiences of the page: the list has all of them, and matching each id takes longer.
    page = PageRecord.objects.filter(audiences_unread(), page_id=page_id)
    audiences = AudienceRecord.objects.filter(page_id=page_id).annotate(is_unread=Exists(page))
    return audiences.values_list(*RecordedAudience._fields)


@dataclass(frozen=True)
class ChangeSet(Generic[RecordedT, ModelT]):
    """How the objects of a response differ from the stored ones, by id."""

    before: Mapping[str, RecordedT]
    changed: Mapping[str, ModelT]
    """New and changed objects, except those that a newer response has updated meanwhile."""
    stale: Sequence[str]
    """The ids of unchanged objects whose `last_seen_at` must be updated."""


def compare_pages(pages: Iterable[PageItem], now: datetime) -> ChangeSet[RecordedPage, PageItem]:
    by_id = {page.page_id: page for page in pages}
    before = {row.page_id: row for row in _recorded_pages.rows([*by_id])}
    for page_id, record in before.items():
        page, omitted = by_id[page_id], {}
        for name in ("page_type", "status"):
            # A list may leave them out (spec: not shown): keep the stored ones.
            if not getattr(page, name) and getattr(record, name):
                omitted[name] = getattr(record, name)
        if omitted:
            by_id[page_id] = page.model_copy(update=omitted)
    return _compare(by_id, before, page_search_text, now)


def compare_audiences(
    page_id: str, audiences: Iterable[Audience], now: datetime
) -> ChangeSet[RecordedAudience, Audience]:
    by_id = {audience.audience_id: audience for audience in audiences if audience.audience_id}
    before = {row.audience_id: row for row in _recorded_audiences.rows(page_id)}
    return _compare(by_id, before, audience_search_text, now)


def _compare(
    received: Mapping[str, ModelT],
    before: Mapping[str, RecordedT],
    search_text: Callable[[ModelT], str],
    now: datetime,
) -> ChangeSet[RecordedT, ModelT]:
    changed: dict[str, ModelT] = {}
    stale = []
    for key, item in received.items():
        old = before.get(key)
        if old is None:
            changed[key] = item
        # A record written by an older release may lack the search text.
        elif body_digest(item.to_json()) != old.digest or old.searched != search_text(item):
            if old.last_seen_at <= now:
                changed[key] = item
        else:
            interval = LAST_SEEN_WRITE_INTERVAL
            is_new = now - old.changed_at < LAST_SEEN_WRITE_INTERVAL
            if is_new or getattr(old, "latest_status", "") in IN_FLIGHT:
                interval = LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT
            if now >= old.last_seen_at + interval:
                stale.append(key)
    return ChangeSet(before, changed, stale)


def body_digest(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=16).hexdigest()


def observed(model: WireModel, now: datetime) -> dict[str, Any]:
    body = model.to_json()
    return {
        "body": body,
        "digest": body_digest(body),
        "first_seen_at": now,
        "last_seen_at": now,
        "changed_at": now,
    }


def update_last_seen(
    records: QuerySet[Any], changes: ChangeSet[RecordedT, ModelT], now: datetime
) -> bool:
    """Update `last_seen_at` of unchanged objects; return False if they have changed meanwhile."""
    if not changes.stale:
        return True
    digests = [changes.before[key].digest for key in changes.stale]
    unchanged = records.filter(digest__in=digests, last_seen_at__lt=now)
    return unchanged.update(last_seen_at=now) == len(changes.stale)


def upsert_newer(
    rows: Sequence[models.Model],
    *,
    unique: Sequence[str],
    preserved: Collection[str] = (),
    moment: str = "last_seen_at",
) -> set[tuple[Any, ...]]:
    """Insert or update rows, and return the unique columns of those that were written.

    A stored row with a later `moment` than the new one stays as it is. An update leaves the
    `preserved` columns alone. `rows` has at least one row, all of one model; they are locked in
    their order.
    """
    model = type(rows[0])
    fields = [field for field in model._meta.concrete_fields if field is not model._meta.auto_field]
    size = max((connection.features.max_query_params or 30_000) // len(fields), 1)
    sql = _sql(model, fields, unique, preserved, moment)
    row_sql = f"({', '.join(['%s'] * len(fields))})"
    written = set()
    with connection.cursor() as cursor:
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            values = [
                field.get_db_prep_save(getattr(row, field.attname), connection)
                for row in batch
                for field in fields
            ]
            cursor.execute(sql.format(values=", ".join([row_sql] * len(batch))), values)
            written.update(cursor.fetchall())
    return written


def _sql(
    model: type[models.Model],
    fields: Sequence["models.Field[Any, Any]"],
    unique: Sequence[str],
    preserved: Collection[str],
    moment: str,
) -> str:
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    columns = {field.name: quote(str(field.column)) for field in fields}
    updates = [
        f"{column} = CASE WHEN {table}.digest = EXCLUDED.digest"
        f" THEN {table}.{column} ELSE EXCLUDED.{column} END"
        if name == CHANGED_AT
        else f"{column} = EXCLUDED.{column}"
        for name, column in columns.items()
        if name not in {*unique, *preserved}
    ]
    key = ", ".join(columns[name] for name in unique)
    return (
        f"INSERT INTO {table} ({', '.join(columns.values())}) VALUES {{values}}"  # noqa: S608
        f" ON CONFLICT ({key}) DO UPDATE SET {', '.join(updates)}"
        f" WHERE {table}.{columns[moment]} <= EXCLUDED.{columns[moment]}"
        f" RETURNING {key}"
    )
