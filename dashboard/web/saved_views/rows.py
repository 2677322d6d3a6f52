"""The rows of a saved view, as its list has them: to be counted, or compared for who follows it."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from dashboard.ledger.models import SavedView, SubscriptionRecord
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.audience_list import find_audiences
from dashboard.ledger.queries.pages import find_pages
from dashboard.ledger.queries.saved_views import ViewOfUser
from dashboard.notifications.snapshots import MAX_ROWS, AudienceRow
from dashboard.web.activity import filters as activity
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.pages.listing import PageQuery
from dashboard.web.webhooks import listing as webhooks

FOLLOWED_LISTS = (ListName.PAGES, ListName.AUDIENCES)
"""The lists whose views can be followed: the ledger has their rows, and when they changed."""


def rows_of(view: ViewOfUser | SavedView) -> QuerySet[Any]:
    """Return the rows of a view of a list that is in the ledger."""
    params = QueryDict(view.query)
    match view.list_name:
        case ListName.PAGES:
            query = PageQuery.from_params(params)
            return find_pages(
                words=query.words, statuses=query.statuses, types=query.types, flags=query.flags
            )
        case ListName.AUDIENCES:
            return find_audiences(AudienceListQuery.from_params(params).filters)
        case ListName.ACTIVITY:
            return activity.read_filters(params).find()
    state = webhooks.SubscriptionFilters.of(params).state
    found = SubscriptionRecord.objects.all()
    return found.filter(active=state == "on") if state else found


def rows_of_followed_view(view: SavedView) -> list[AudienceRow]:
    """Return the audiences of a view, or the pages of a view of pages, at most MAX_ROWS."""
    rows = rows_of(view).order_by("pk")
    if view.list_name == ListName.PAGES:
        pages = rows.values_list("page_id", "name")[:MAX_ROWS]
        no_versions: dict[str, Any] = dict.fromkeys(("latest", "live", "created_at"))
        return [
            AudienceRow(page_id, "", name, archived=False, **no_versions) for page_id, name in pages
        ]
    columns = rows.values_list(
        *("page_id", "audience_id", "name"),
        *("latest_version_number", "live_version_number", "archived", "created_at"),
    )
    return [AudienceRow(*row) for row in columns[:MAX_ROWS]]
