"""Words and links of saved views, for templates."""

from django.http import QueryDict

from dashboard.saved_views.models import ListName
from dashboard.web.lists.columns import COLUMNS
from dashboard.web.lists.definition import DENSITY, SORT
from dashboard.web.lists.filters import SEARCH
from dashboard.web.lists.saved_views import view_url

__all__ = ["list_label", "state_summary", "view_url"]

NO_FILTERS = {
    SEARCH.param: "the search",
    SORT: "the order",
    COLUMNS: "the columns",
    DENSITY: "the density",
}
"""Parameters of a list that do not filter it by a value, in words."""


def list_label(list_name: str) -> str:
    """Return the name of a list on screen, such as "Audiences"."""
    return ListName(list_name).label


def state_summary(query: str) -> str:
    """Return what a view saves, such as "Saves the search, 3 filters and the order."."""
    params = QueryDict(query)
    filters = sum(len(values) for name, values in params.lists() if name not in NO_FILTERS)
    parts = [words for name, words in NO_FILTERS.items() if name in params]
    if filters:
        parts.insert(
            int(SEARCH.param in params), "1 filter" if filters == 1 else f"{filters} filters"
        )
    *rest, last = parts
    return f"Saves {', '.join(rest)} and {last}." if rest else f"Saves {last}."
