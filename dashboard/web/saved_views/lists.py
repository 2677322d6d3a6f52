"""The lists whose state can be saved, by name."""

from dashboard.saved_views.models import ListName
from dashboard.web.activity.filters import ACTIVITY
from dashboard.web.audiences.filters import AUDIENCES
from dashboard.web.lists.definition import ListDefinition
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
