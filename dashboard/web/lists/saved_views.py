"""The saved views of a list: which one is shown, and whether the list differs from it.

The plain URL of a list opens a view, so a link works for everyone. If the list differs from the
view, its URL has the view's id in `?view=` as a hint. The hint is ignored if the user has no such
view. `?view=all` opens the whole list instead of the default view.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.db import Error
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.functional import cached_property

from dashboard.saved_views.models import ListName
from dashboard.saved_views.queries import ViewOfUser, views_of
from dashboard.web.lists.columns import CHECKED, COLUMNS, MOVE, url_of_form
from dashboard.web.lists.definition import DENSITY, SORT, VIEW, ListDefinition
from dashboard.web.lists.filters import SEARCH
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.urls import cached_reverse

ALL = "all"
"""Hint that opens the whole list."""
URL_NAMES = {
    ListName.PAGES: "page-list",
    ListName.AUDIENCES: "audience-list",
    ListName.ACTIVITY: "operation-list",
    ListName.PEOPLE: "people-list",
    ListName.WEBHOOKS: "subscription-list",
}
NO_FILTERS = {
    SEARCH.param: "the search",
    SORT: "the order",
    COLUMNS: "the columns",
    DENSITY: "the density",
}
"""Names of the parameters that don't count as filters."""

View = Callable[..., HttpResponse]


def list_url(list_name: str, query: str = "") -> str:
    url = cached_reverse(URL_NAMES[ListName(list_name)])
    return f"{url}?{query}" if query else url


def view_url(view: ViewOfUser) -> str:
    """Return the URL that opens a view. Views with the same parameters get a hint."""
    return list_url(view.list_name, view.query + (f"&{VIEW}={view.pk}" if view.has_twin else ""))


def visible_views(request: HttpRequest) -> list[ViewOfUser]:
    """Return the user's views and the team's. Makes one query in a request.

    Returns none if the database fails, so that the error page can be rendered.
    """
    views: list[ViewOfUser] | None = getattr(request, "saved_views", None)
    if views is None:
        try:
            views = views_of(request.user) if request.user.is_authenticated else []
        except Error:
            views = []
        request.saved_views = views  # type: ignore[attr-defined]  # ours
    return views


@dataclass(frozen=True)
class ListViews:
    """The views of a list, and the view that the list shows."""

    list_name: str
    views: tuple[ViewOfUser, ...]
    query: str
    """Normalized query string of the displayed list."""
    requested: str = ""
    """Hint in the URL: a view's id, or ALL."""

    @cached_property
    def current(self) -> ViewOfUser | None:
        """The displayed view, even if the list differs from it; None if there is none."""
        same = next((view for view in self.views if view.query == self.query), None)
        hinted = next((view for view in self.views if str(view.pk) == self.requested), None)
        return hinted or same

    @property
    def is_changed(self) -> bool:
        return self.current is not None and self.current.query != self.query

    @property
    def default(self) -> ViewOfUser | None:
        return next((view for view in self.views if view.is_default), None)

    @property
    def hint(self) -> str:
        """The value of `?view=` for the links of the list; empty if none is needed."""
        if self.current:
            return str(self.current.pk)
        return ALL if self.default else ""

    @property
    def all_url(self) -> str:
        return list_url(self.list_name, f"{VIEW}={ALL}" if self.default else "")

    @property
    def needs_hint(self) -> bool:
        """Whether the list's URL would open another view if it had no hint."""
        if self.current:
            return self.is_changed or self.current.has_twin
        return not self.query and self.default is not None

    @property
    def url(self) -> str:
        """The URL of the displayed list, with a hint if it needs one."""
        hint = [(VIEW, self.hint)] if self.needs_hint else []
        return list_url(self.list_name, "&".join(filter(None, (self.query, urlencode(hint)))))

    @property
    def saved_params(self) -> list[tuple[str, str]]:
        """The parameters of the displayed list, for hidden fields of a form."""
        return [(name, value) for name, values in QueryDict(self.query).lists() for value in values]


NO_VIEWS = ListViews("", (), "")


def saved_views_of(request: Request, definition: ListDefinition) -> ListViews:
    """Return the saved views of a list, and the one that the request shows."""
    return ListViews(
        list_name=str(definition.name),
        views=tuple(view for view in visible_views(request) if view.list_name == definition.name),
        query=definition.saved_query(request.GET),
        requested=hint_param(request.GET),
    )


def hint_param(params: QueryDict) -> str:
    """Return the hint in `?view=`: a view's id or ALL; empty if it is neither."""
    hint = params.get(VIEW, "")
    return hint if hint == ALL else str(int_param(hint) or "")


def opens_saved_views(definition: ListDefinition) -> Callable[[View], View]:
    """Redirect a URL without parameters to the default view, and apply the column form."""

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method != "POST" and (url := _redirect_url(request, definition)):
                return redirect(url)
            return view(request, *args, **kwargs)

        return opened

    return decorate


def _redirect_url(request: Request, definition: ListDefinition) -> str:
    """Return the URL to redirect to; empty if there is none."""
    if definition.columns and (CHECKED in request.GET or MOVE in request.GET):
        # MOVE is checked too, as CHECKED is missing if all columns were unchecked.
        query = url_of_form(request.GET, definition.columns)
        return list_url(str(definition.name), query)
    if request.GET or request.htmx.target:
        return ""
    default = saved_views_of(request, definition).default
    return view_url(default) if default else ""


def list_label(list_name: str) -> str:
    """Return the name of a list on screen, such as "Audiences"."""
    return ListName(list_name).label


def state_summary(query: str) -> str:
    """Return a sentence such as "Saves the search, 3 filters and the order."."""
    params = QueryDict(query)
    filters = sum(len(values) for name, values in params.lists() if name not in NO_FILTERS)
    parts = [words for name, words in NO_FILTERS.items() if name in params]
    if filters:
        parts.insert(
            int(SEARCH.param in params), "1 filter" if filters == 1 else f"{filters} filters"
        )
    *rest, last = parts
    return f"Saves {', '.join(rest)} and {last}." if rest else f"Saves {last}."
