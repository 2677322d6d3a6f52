"""Compare a response with the ledger: which objects changed, and which need a new last_seen_at."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar

from django.db.models import Exists, F, Q, QuerySet, Subquery

from dashboard.compiled_query import CompiledQuery
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import AudienceRecord, ListTotal, PageRecord
from dashboard.ledger.models.audiences import IN_FLIGHT, audience_search_text
from dashboard.ledger.models.pages import page_search_text

PAGES_LIST = "pages"
LAST_SEEN_WRITE_INTERVAL = timedelta(minutes=1)
"""Minimum interval between updates of `last_seen_at` for unchanged objects. Stored times may lag by
this much. Source: our choice."""
LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT = timedelta(seconds=1)
"""The same for versions in flight, which many users poll."""

ModelT = TypeVar("ModelT", bound=WireModel)
Known: TypeAlias = Any
"""A named row of some columns of the stored record."""


def pages_total() -> "QuerySet[ListTotal, int]":
    """Return the service's last total of its list of pages: one row or none."""
    return ListTotal.objects.filter(list_name=PAGES_LIST).values_list("total_count", flat=True)


def audiences_unread() -> Q:
    """Match the pages whose audiences were not read since their number changed."""
    return Q(audiences_count__gt=0) & (
        Q(audiences_count_read=None) | ~Q(audiences_count_read=F("audiences_count"))
    )


def _known_pages(page_ids: list[str]) -> "QuerySet[PageRecord, Any]":
    known = PageRecord.objects.filter(page_id__in=page_ids)
    known = known.annotate(total_count=Subquery(pages_total()))
    columns = ("page_id", "page_type", "status", "total_count")
    return known.values_list(*columns, *_COMPARED_COLUMNS, named=True)


def _known_audiences(page_id: str) -> "QuerySet[AudienceRecord, Any]":
    # All audiences of the page: the list has all of them, and matching each id takes longer.
    known = AudienceRecord.objects.filter(page_id=page_id)
    page = PageRecord.objects.filter(audiences_unread(), page_id=page_id)
    known = known.annotate(is_unread=Exists(page))
    columns = (
        *("audience_id", "latest_version_id", "live_version_id", "latest_status"),
        *("in_progress_since", "is_unread"),
    )
    return known.values_list(*columns, *_COMPARED_COLUMNS, named=True)


_COMPARED_COLUMNS = ("digest", "last_seen_at", "searched")
"""The columns that show whether an object changed, without its long body."""
_KNOWN_PAGES = CompiledQuery(_known_pages)
_KNOWN_AUDIENCES = CompiledQuery(_known_audiences)


@dataclass(frozen=True)
class ChangeSet(Generic[ModelT]):
    """How the objects of a response differ from the stored ones, by id."""

    before: Mapping[str, Known]
    changed: Mapping[str, ModelT]
    """New and changed objects, except those that a newer response has updated meanwhile."""
    stale: Sequence[str]
    """The ids of unchanged objects whose `last_seen_at` must be updated."""


def compare_pages(pages: Iterable[PageItem], now: datetime) -> ChangeSet[PageItem]:
    """Compare pages with the stored ones; one query."""
    by_id = {page.page_id: page for page in pages}
    before = {row.page_id: row for row in _KNOWN_PAGES.rows([*by_id])}
    for page_id, known in before.items():
        page, omitted = by_id[page_id], {}
        for name in ("page_type", "status"):
            # A list may leave them out (spec: not shown): keep the stored ones.
            if not getattr(page, name) and getattr(known, name):
                omitted[name] = getattr(known, name)
        if omitted:
            by_id[page_id] = page.model_copy(update=omitted)
    return _compare(by_id, before, page_search_text, now)


def compare_audiences(
    page_id: str, audiences: Iterable[Audience], now: datetime
) -> ChangeSet[Audience]:
    """Compare audiences of a page with the stored ones; one query."""
    by_id = {audience.audience_id: audience for audience in audiences if audience.audience_id}
    before = {row.audience_id: row for row in _KNOWN_AUDIENCES.rows(page_id)}
    return _compare(by_id, before, audience_search_text, now)


def _compare(
    found: Mapping[str, ModelT],
    before: Mapping[str, Known],
    search_text: Callable[[ModelT], str],
    now: datetime,
) -> ChangeSet[ModelT]:
    changed: dict[str, ModelT] = {}
    stale = []
    for key, one in found.items():
        old = before.get(key)
        if old is None:
            changed[key] = one
        # A record written by an older release may lack the search text.
        elif body_digest(one.to_json()) != old.digest or old.searched != search_text(one):
            if old.last_seen_at <= now:
                changed[key] = one
        else:
            interval = LAST_SEEN_WRITE_INTERVAL
            if getattr(old, "latest_status", "") in IN_FLIGHT:
                interval = LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT
            if now >= old.last_seen_at + interval:
                stale.append(key)
    return ChangeSet(before, changed, stale)


def body_digest(body: str) -> str:
    """Return a hash of a body, to detect changes."""
    return hashlib.blake2b(body.encode(), digest_size=16).hexdigest()
