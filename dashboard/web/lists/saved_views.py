"""The saved views of a list: which one is shown, and whether it was changed since it was saved.

A view is opened by the plain URL of its list, so a link works for everyone. A list that differs
from its view has `?view=` and the view's id in its URL as a hint, which is ignored if the user has
no such view. `?view=all` is the whole list where a default view would open otherwise.
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
"""The hint of the whole list."""
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
"""Parameters of a list that do not filter it by a value, in words."""

View = Callable[..., HttpResponse]


def list_url(list_name: str, query: str = "") -> str:
    url = cached_reverse(URL_NAMES[ListName(list_name)])
    return f"{url}?{query}" if query else url


def view_url(view: ViewOfUser) -> str:
    """Return the URL that opens a view: that of its list, with a hint if two views are the same."""
    return list_url(view.list_name, view.query + (f"&{VIEW}={view.pk}" if view.has_twin else ""))


def visible_views(request: HttpRequest) -> list[ViewOfUser]:
    """Return the user's views and the team's; one query a request.

    There are none if the database fails, so that the error page can be rendered.
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
    """The views of one list, and what the list shows of them."""

    list_name: str
    views: tuple[ViewOfUser, ...]
    query: str
    """The normalized query string of the list as shown."""
    requested: str = ""
    """The hint of the URL: a view's id, or ALL."""

    @cached_property
    def current(self) -> ViewOfUser | None:
        """The view that is shown, perhaps changed; None for the list itself."""
        same = next((view for view in self.views if view.query == self.query), None)
        hinted = next((view for view in self.views if str(view.pk) == self.requested), None)
        return hinted or same

    @property
    def is_changed(self) -> bool:
        """Whether the list differs from the current view as it was saved."""
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
        """Whether the URL of the list as shown would open another view without a hint."""
        if self.current:
            return self.is_changed or self.current.has_twin
        return not self.query and self.default is not None

    @property
    def url(self) -> str:
        """The URL of the list as shown, with a hint if it needs one."""
        hint = [(VIEW, self.hint)] if self.needs_hint else []
        return list_url(self.list_name, "&".join(filter(None, (self.query, urlencode(hint)))))

    @property
    def saved_params(self) -> list[tuple[str, str]]:
        """The parameters of the list as shown, for hidden fields of a form."""
        return [(name, value) for name, values in QueryDict(self.query).lists() for value in values]


NO_VIEWS = ListViews("", (), "")


def saved_views_of(request: Request, definition: ListDefinition) -> ListViews:
    """Return the saved views of a list, and which of them the request shows."""
    return ListViews(
        list_name=str(definition.name),
        views=tuple(view for view in visible_views(request) if view.list_name == definition.name),
        query=definition.saved_query(request.GET),
        requested=hint_param(request.GET),
    )


def hint_param(params: QueryDict) -> str:
    """Return `?view=`: the id of a view, or ALL; empty if it is neither."""
    hint = params.get(VIEW, "")
    return hint if hint == ALL else str(int_param(hint) or "")


def opens_saved_views(definition: ListDefinition) -> Callable[[View], View]:
    """Open a list with its default view if its URL is bare, and apply the form of its columns."""

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method != "POST" and (url := _redirect_url(request, definition)):
                return redirect(url)
            return view(request, *args, **kwargs)

        return opened

    return decorate


def _redirect_url(request: Request, definition: ListDefinition) -> str:
    """Return the URL to show instead; empty if the requested one is right."""
    if definition.columns and (CHECKED in request.GET or MOVE in request.GET):
        # Checked columns alone are empty only if all were unchecked.
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
