"""The saved views of a list: which one is shown, and whether it was changed since it was saved.

A view is opened by the plain URL of its list, so a link works for everyone. A list that differs
from its view has `?view=` and the view's id in its URL as a hint, which is ignored if the user has
no such view. `?view=all` is the whole list where a default view would open otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any
from urllib.parse import urlencode

from django.db import Error
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.audience_list import DEFAULT_AUDIENCE_SORT
from dashboard.ledger.queries.saved_views import ViewOfUser, views_of
from dashboard.web.ui.columns import CHECKED, MOVE, Columns, url_of_form
from dashboard.web.ui.density import DENSITIES, density_param
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.ignored_values import IgnoredValue, KnownValues, check_params
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
PARAMS: dict[str, tuple[str, ...]] = {
    ListName.PAGES: ("q", "status", "type", "flag", "sort", "columns", "density"),
    ListName.AUDIENCES: ("q", "page", "live", "status", "agent", "sort", "columns", "density"),
    ListName.ACTIVITY: (
        *("kind", "outcome", "actor", "since", "target", "release", "approval"),
        "density",
    ),
    ListName.PEOPLE: ("q", "columns", "density"),
    ListName.WEBHOOKS: ("state", "event", "density"),
}
"""The parameters that are saved, in the order of a view's query string: not those of paging."""
SEVERAL = {"status", "type", "flag", "page", "live", "agent"}
"""Parameters with several values, whose order makes no difference."""
DEFAULT_SORTS: dict[str, str] = {ListName.AUDIENCES: DEFAULT_AUDIENCE_SORT}
"""The orders that lists have anyway. That of pages may be the service's own."""
KNOWN_VALUES = {"density": KnownValues("Density", DENSITIES)}
"""The values of the parameters that all lists have."""

View = Callable[..., HttpResponse]


def normalized_query(list_name: str, params: QueryDict) -> str:
    """Return the part of a query string that a view saves, in a fixed order."""
    pairs: list[tuple[str, str]] = []
    for name in PARAMS[list_name]:
        values = [value.replace("\0", "") for value in params.getlist(name)]
        values = sorted(set(values)) if name in SEVERAL else [values[-1].strip()] if values else []
        is_default = values == [DEFAULT_SORTS.get(list_name)] and name == "sort"
        pairs += [] if is_default else [(name, value) for value in values if value]
    return urlencode(pairs)


def list_url(list_name: str, query: str = "") -> str:
    """Return the URL of a list with a query string."""
    url = cached_reverse(URL_NAMES[ListName(list_name)])
    return f"{url}?{query}" if query else url


def view_url(view: ViewOfUser) -> str:
    """Return the URL that opens a view: that of its list, with a hint if two views are the same."""
    return list_url(view.list_name, view.query + (f"&view={view.pk}" if view.has_twin else ""))


def visible_views(request: HttpRequest) -> list[ViewOfUser]:
    """Return the user's views and the team's; one query a request.

    There are none if the database fails, so that the error page can be rendered.
    """
    found: list[ViewOfUser] | None = getattr(request, "saved_views", None)
    if found is None:
        try:
            found = views_of(request.user) if request.user.is_authenticated else []
        except Error:
            found = []
        request.saved_views = found  # type: ignore[attr-defined]  # ours
    return found


@dataclass(frozen=True)
class ListViews:
    """The views of one list, and what the list shows of them."""

    list_name: str
    views: tuple[ViewOfUser, ...]
    query: str
    """The normalized query string of the list as shown."""
    requested: str = ""
    """The hint of the URL: a view's id, or ALL."""
    params: QueryDict = field(default_factory=QueryDict)
    """The parameters of the list, without the values that it ignores."""
    ignored: list[IgnoredValue] = field(default_factory=list)

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
        """The view that the list opens with."""
        return next((view for view in self.views if view.is_default), None)

    @property
    def hint(self) -> str:
        """The value of `?view=` for the links of the list; empty if none is needed."""
        if self.current:
            return str(self.current.pk)
        return ALL if self.default else ""

    @property
    def all_url(self) -> str:
        """The URL of the whole list."""
        return list_url(self.list_name, f"view={ALL}" if self.default else "")

    @property
    def needs_hint(self) -> bool:
        """Whether the URL of the list as shown would open another view without a hint."""
        if self.current:
            return self.is_changed or self.current.has_twin
        return not self.query and self.default is not None

    @property
    def url(self) -> str:
        """The URL of the list as shown, with a hint if it needs one."""
        hint = [("view", self.hint)] if self.needs_hint else []
        return list_url(self.list_name, "&".join(filter(None, (self.query, urlencode(hint)))))

    @property
    def density(self) -> str:
        """The density of the list, one of DENSITIES; empty for the user's preference."""
        return density_param(self.params)

    @property
    def saved_params(self) -> list[tuple[str, str]]:
        """The parameters of the list as shown, for hidden fields of a form."""
        return [(name, value) for name, values in QueryDict(self.query).lists() for value in values]


def views_of_list(
    request: Request,
    list_name: str,
    known: Mapping[str, KnownValues] | None = None,
    columns: Columns | None = None,
) -> ListViews:
    """Return the views of a list, and which of them the request shows.

    `known` are the values of its filters: the list ignores others.
    """
    shown = columns.choose(request.GET.get("columns", "")) if columns else None
    checked = check_params(request.GET, {**(known or {}), **KNOWN_VALUES}, shown)
    return ListViews(
        list_name=list_name,
        views=tuple(view for view in visible_views(request) if view.list_name == list_name),
        query=normalized_query(list_name, request.GET),
        requested=hint_param(request.GET),
        params=checked.params,
        ignored=checked.ignored,
    )


def hint_param(params: QueryDict) -> str:
    """Return `?view=`: the id of a view, or ALL; empty if it is neither."""
    hint = params.get("view", "")
    return hint if hint == ALL else str(int_param(hint) or "")


def opens_saved_views(list_name: str, columns: Columns | None = None) -> Callable[[View], View]:
    """Open a list with its default view if its URL is bare, and apply the form of its columns."""

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method != "POST" and (url := _redirect_url(request, list_name, columns)):
                return redirect(url)
            return view(request, *args, **kwargs)

        return opened

    return decorate


def _redirect_url(request: Request, list_name: str, columns: Columns | None) -> str:
    """Return the URL to show instead; empty if the requested one is right."""
    if columns and (CHECKED in request.GET or MOVE in request.GET):
        # Checked columns alone are empty only if all were unchecked.
        return list_url(list_name, url_of_form(request.GET, columns))
    if request.GET or request.htmx.target:
        return ""
    default = views_of_list(request, list_name).default
    return view_url(default) if default else ""
