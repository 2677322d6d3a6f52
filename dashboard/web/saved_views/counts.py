"""The lists that have saved views, and the number of rows of each view.

One query counts all views in the ledger. Counts are cached together with their coverage. Views of
people have no counts, because people are not in the ledger.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
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
from dashboard.web.audiences.filters import AUDIENCES, ME
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
"""Maximum number of a user's views that are counted, their own first. Source: our choice."""
CACHE_SECONDS = 30
"""How long counts are cached, in seconds. Source: our choice."""
_KNOWN, _TOTAL, _UNREAD = -1, -2, -3
"""Keys in place of a view's id: pages in the ledger, pages in the service, pages not read."""
_PARTIAL = (ListName.PAGES, ListName.AUDIENCES)
"""Lists that the ledger may hold only in part."""


@dataclass(frozen=True)
class ViewCount:
    """The number of rows of a view. If `is_partial`, the ledger lacks some of the list."""

    count: int | None
    """None if the view filters by a value that may not exist, as the spec does not list it."""
    is_partial: bool


def count_views(
    views: Iterable[ViewOfUser], viewer: User | AnonymousUser, *, is_fresh: bool = False
) -> dict[int, ViewCount]:
    """Return the counts of the first MAX_COUNTED views by id.

    They come from the cache, or from one query for all that are missing. `is_fresh` ignores the
    cache. Returns nothing if the database fails, so that the error page can be rendered.
    """
    counted = [*filter(_is_countable, views)][:MAX_COUNTED]
    keys = {view.pk: _key(view, viewer) for view in counted}
    if not keys:
        return {}
    found_in_cache = {} if is_fresh else cache.get_many(keys.values())
    cached = {key: value for key, value in found_in_cache.items() if _is_count(value)}
    missing = [view for view in counted if keys[view.pk] not in cached]
    try:
        fresh = (
            {keys[pk]: count for pk, count in _count(missing, viewer).items()} if missing else {}
        )
    except Error:
        return {}
    if fresh:
        cache.set_many(fresh, timeout=CACHE_SECONDS)
    counts = cached | fresh
    return {pk: ViewCount(*counts[key]) for pk, key in keys.items() if key in counts}


def _is_count(value: Any) -> bool:
    """Return whether a cached value can be read. Another release may have written it."""
    match value:
        case [int() | None, bool()]:
            return True
    return False


def _count(
    views: Sequence[ViewOfUser], viewer: User | AnonymousUser
) -> dict[int, tuple[int | None, bool]]:
    """Return the number of rows of each view, and whether its list is partial, in one query."""
    parts = []
    for view in views:
        definition, params = LISTS[ListName(view.list_name)], QueryDict(view.query)
        state = ListState.parse(definition, params, viewer)
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
    """Return whether the list recognizes all values of a view."""
    filters, params = LISTS[ListName(view.list_name)].filters, QueryDict(view.query)
    return all(list_filter.are_certain(list_filter.texts(params)) for list_filter in filters)


def _counted(number: int, rows: QuerySet[Any]) -> QuerySet[Any, Any]:
    return _numbered(number, rows.order_by().values(number=ROW_COUNT))


def _numbered(pk: int, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    numbered: QuerySet[Any, Any] = rows.annotate(view=Value(pk, IntegerField()))
    return numbered.values_list("view", "number")


def _is_countable(view: ViewOfUser) -> bool:
    """Return whether a query can count a view. Webhook events are in JSON, so it can't."""
    is_by_event = view.list_name == ListName.WEBHOOKS and "event=" in view.query
    return view.list_name != ListName.PEOPLE and not is_by_event


def _key(view: ViewOfUser, viewer: User | AnonymousUser) -> str:
    """Return the cache key. It holds the view's query, so a changed view is counted at once."""
    # Viewers share a count unless it depends on who they are ("assigned to you") or on when a day
    # begins in their time zone.
    zone = get_current_timezone_name() if "since=" in view.query else ""
    own = viewer.pk if f"assignee={ME}" in view.query else ""
    text = f"{view.list_name}?{view.query} {zone} {own}"
    digest = hashlib.blake2b(text.encode(), digest_size=12)
    return f"view-count-1-{digest.hexdigest()}"
