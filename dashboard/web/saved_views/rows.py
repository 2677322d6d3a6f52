"""The rows of a saved view, as its list has them: to be counted, or compared for its followers."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from dashboard.ledger.models import SavedView, SubscriptionRecord
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.audience_list import find_audiences
from dashboard.ledger.queries.pages import find_pages
from dashboard.ledger.queries.saved_views import ViewOfUser
from dashboard.service.subscriptions import parse_subscription
from dashboard.web.activity import filters as activity
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.pages.listing import PageQuery
from dashboard.web.webhooks import listing as webhooks


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


def rows_of_followed_view(view: SavedView) -> QuerySet[Any]:
    """Return the rows of a view, those of webhooks also by event, which needs a query more."""
    rows, params = rows_of(view), QueryDict(view.query)
    if view.list_name != ListName.WEBHOOKS or not params.get("event"):
        return rows
    filters = webhooks.SubscriptionFilters.of(params)
    matching = [each.pk for each in rows if filters.matches(each, parse_subscription(each))]
    return rows.filter(pk__in=matching)
