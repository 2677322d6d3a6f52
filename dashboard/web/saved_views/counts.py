"""The lists with saved views, and how many rows each view has.

Views are counted together in the ledger, and the counts are cached, with their coverage. People
have no counts: they are not in the ledger.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db import Error
from django.db.models import F, IntegerField, QuerySet, Value
from django.http import QueryDict
from django.utils.timezone import get_current_timezone_name

from dashboard.compiled_query import ROW_COUNT
from dashboard.ledger.changes import audiences_unread, pages_total
from dashboard.ledger.models import PageRecord
from dashboard.saved_views.models import ListName
from dashboard.saved_views.queries import ViewOfUser
from dashboard.web.activity.filters import ACTIVITY
from dashboard.web.audiences.filters import AUDIENCES
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.state import ListState
from dashboard.web.pages.filters import PAGES
from dashboard.web.people.query import PEOPLE
from dashboard.web.webhooks.listing import WEBHOOKS

LISTS: dict[str, ListDefinition] = {
    ListName.PAGES: PAGES,
    ListName.AUDIENCES: AUDIENCES,
    ListName.ACTIVITY: ACTIVITY,
    ListName.PEOPLE: PEOPLE,
    ListName.WEBHOOKS: WEBHOOKS,
}
"""The lists whose state can be saved, by name."""
MAX_COUNTED = 8
"""Views of a user that are counted, their own first. Source: our choice."""
CACHE_SECONDS = 30
"""Counts may lag by this much. Source: our choice."""
_KNOWN, _TOTAL, _UNREAD = -1, -2, -3
"""In place of a view's id: pages known, the service's own number, and those without audiences."""
_PARTIAL = (ListName.PAGES, ListName.AUDIENCES)
"""The lists that may not be wholly in the ledger."""


@dataclass(frozen=True)
class ViewCount:
    """The number of rows of a view; at least that many if the ledger lacks some of the list."""

    count: int | None
    """None if it depends on a value that the specification does not name: it may not exist."""
    is_partial: bool


def count_views(views: Iterable[ViewOfUser], *, is_fresh: bool = False) -> dict[int, ViewCount]:
    """Return the counts of the first views by id: from the cache, else by one query for all.

    `is_fresh` counts all of them anew.

    None is counted if the database fails, so that the error page can be rendered.
    """
    counted = [*filter(_is_countable, views)][:MAX_COUNTED]
    keys = {view.pk: _key(view) for view in counted}
    if not keys:
        return {}
    found_in_cache = {} if is_fresh else cache.get_many(keys.values())
    cached = {key: value for key, value in found_in_cache.items() if _is_count(value)}
    missing = [view for view in counted if keys[view.pk] not in cached]
    try:
        fresh = {keys[pk]: count for pk, count in _count(missing).items()} if missing else {}
    except Error:
        return {}
    if fresh:
        cache.set_many(fresh, timeout=CACHE_SECONDS)
    counts = cached | fresh
    return {pk: ViewCount(*counts[key]) for pk, key in keys.items() if key in counts}


def _is_count(value: Any) -> bool:
    """Return whether a cached value can be read; another release may have written it."""
    match value:
        case [int() | None, bool()]:
            return True
    return False


def _count(views: Sequence[ViewOfUser]) -> dict[int, tuple[int | None, bool]]:
    """Count the rows of the views, and whether all of the list is in the ledger; one query."""
    parts = []
    for view in views:
        state = ListState.parse(LISTS[ListName(view.list_name)], QueryDict(view.query))
        parts.append(_counted(view.pk, state.find()))
    if any(view.list_name in _PARTIAL for view in views):
        every = PageRecord.objects.all()
        parts += [
            _counted(_KNOWN, every),
            _counted(_UNREAD, every.filter(audiences_unread())),
            _numbered(_TOTAL, pages_total().values(number=F("total_count"))),
        ]
    numbers = dict(parts[0].union(*parts[1:], all=True))
    total = numbers.get(_TOTAL)
    is_partial = {
        ListName.PAGES: total is None or numbers[_KNOWN] < total,
        ListName.AUDIENCES: total is None or numbers[_KNOWN] < total or bool(numbers[_UNREAD]),
    }
    return {
        view.pk: (
            numbers[view.pk] if _is_certain(view) else None,
            is_partial.get(ListName(view.list_name), False),
        )
        for view in views
    }


def _is_certain(view: ViewOfUser) -> bool:
    """Return whether the list would ignore none of the values of a view."""
    filters, params = LISTS[ListName(view.list_name)].filters, QueryDict(view.query)
    return all(list_filter.are_certain(list_filter.texts(params)) for list_filter in filters)


def _counted(number: int, rows: QuerySet[Any]) -> QuerySet[Any, Any]:
    return _numbered(number, rows.order_by().values(number=ROW_COUNT))


def _numbered(pk: int, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    numbered: QuerySet[Any, Any] = rows.annotate(view=Value(pk, IntegerField()))
    return numbered.values_list("view", "number")


def _is_countable(view: ViewOfUser) -> bool:
    """Return whether the ledger can count a view by a query: events are in webhooks' JSON."""
    is_by_event = view.list_name == ListName.WEBHOOKS and "event=" in view.query
    return view.list_name != ListName.PEOPLE and not is_by_event


def _key(view: ViewOfUser) -> str:
    """Return the cache's key: of what is counted, so that a changed view is counted at once."""
    # Cached for all viewers, as the ledger is the same for everyone; a day begins in their zone.
    zone = get_current_timezone_name() if "since=" in view.query else ""
    digest = hashlib.blake2b(f"{view.list_name}?{view.query} {zone}".encode(), digest_size=12)
    return f"view-count-1-{digest.hexdigest()}"
