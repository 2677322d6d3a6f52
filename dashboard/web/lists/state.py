"""The state of a list: its search, filters, order and columns, parsed from its URL."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from dashboard.web.lists.columns import COLUMNS, Heading, VisibleColumns, heading
from dashboard.web.lists.definition import DENSITIES, DENSITY, SORT, VIEW, ListDefinition
from dashboard.web.lists.filters import Choice, Filter
from dashboard.web.lists.saved_views import NO_VIEWS, ListViews, hint_param, saved_views_of
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import (
    MAX_TEXT_LENGTH,
    SHOW,
    int_param,
    params_for_all_rows,
    size_param,
)

RowT = TypeVar("RowT", bound=Model)


@dataclass(frozen=True)
class IgnoredValue:
    """A value in the URL that the list ignores. `url` is the list without it."""

    label: str
    value: str
    url: str


NO_COLUMNS = VisibleColumns(())


@dataclass(frozen=True)
class Chip:
    """An active filter above a list. `url` is the list without it."""

    filter: Filter
    value: str
    url: str


@dataclass(frozen=True)
class ListState:
    """The state of a list for one URL."""

    definition: ListDefinition
    chosen: Mapping[Filter, tuple[str, ...]] = field(default_factory=dict)
    """Values of the search and of each filter."""
    sort: str = ""
    """One of the definition's orders, or empty."""
    columns: VisibleColumns = NO_COLUMNS
    density: str = ""
    """One of DENSITIES, or empty."""
    view: str = ""
    """Hint of the displayed saved view (see `saved_views.py`)."""
    start_text: str = ""
    """Where the rows begin: the number of earlier rows, or the key of the last one."""
    cursor: str = ""
    """The service's cursor for that place; empty at the beginning."""
    size: int = 0
    """Maximum number of rows."""
    viewer_name: str = ""
    """Username of the viewer, which ME stands for."""
    saved: ListViews = NO_VIEWS
    ignored: tuple[IgnoredValue, ...] = ()
    """Values in the URL that the list ignores because they don't exist."""

    @classmethod
    def parse(
        cls,
        definition: ListDefinition,
        params: QueryDict,
        viewer: User | AnonymousUser | None = None,
    ) -> "ListState":
        """Parse a query string. Values that can't exist are dropped."""
        sort, density = params.get(SORT, ""), params.get(DENSITY, "")
        is_saved = definition.name is not None
        columns = definition.columns if is_saved else None
        return cls(
            definition,
            {list_filter: list_filter.parse(params) for list_filter in definition.narrowing},
            sort=sort if sort in definition.sorts else "",
            columns=columns.choose(params.get(COLUMNS, "")) if columns else NO_COLUMNS,
            density=density if is_saved and density in DENSITIES else "",
            view=hint_param(params) if is_saved else "",
            start_text=params.get(definition.start, ""),
            cursor=params.get(definition.cursor, ""),
            size=size_param(params, *definition.sizes),
            viewer_name=viewer.get_username() if viewer else "",
        )

    def values(self, a_filter: Filter) -> tuple[str, ...]:
        """Return the chosen values of a filter. Raises KeyError if the list has no such filter."""
        return self.chosen[a_filter]

    def value(self, a_filter: Filter) -> str:
        """Return the value of a filter with at most one; empty if it has none."""
        return next(iter(self.values(a_filter)), "")

    def all(self, param: str) -> tuple[str, ...]:
        """Return the values of the filter with this parameter, for templates. Raises KeyError."""
        return self.values(self.definition[param])

    def __getitem__(self, param: str) -> str:
        """Return the value of the filter with this parameter, for templates. Raises KeyError."""
        return self.value(self.definition[param])

    @property
    def words(self) -> str:
        return self.value(self.definition.search) if self.definition.search else ""

    @property
    def start(self) -> int:
        """Where the rows begin, as a number; 0 at the beginning."""
        return int_param(self.start_text)

    @property
    def is_at_start(self) -> bool:
        """Whether the URL asks for the first rows only. If they are rejected, so is the list."""
        return not self.cursor and self.size == self.definition.sizes[0]

    @property
    def from_start(self) -> "ListState":
        return replace(self, start_text="", cursor="", size=self.definition.sizes[0])

    def is_filtered_besides(self, *filters: Filter) -> bool:
        return any(
            values for list_filter, values in self.chosen.items() if list_filter not in filters
        )

    @property
    def is_filtered(self) -> bool:
        """Whether a search or a filter is active, so that the total counts matches."""
        return any(self.chosen.values())

    @property
    def order(self) -> str:
        """The order of the rows: the chosen one, or else the default."""
        return self.sort or self.definition.default_sort

    @property
    def condition(self) -> Q:
        return reduce(
            and_,
            (list_filter.condition(values) for list_filter, values in self.chosen.items()),
            Q(),
        )

    def find(self) -> QuerySet[Any]:
        return self.definition.find(self)

    def page_of(self, rows: QuerySet[RowT]) -> tuple[list[RowT], int | None]:
        """Return the rows to show, and the primary key of the last of them if more follow.

        `rows` must be ordered by primary key, newest first. `start` is the key of the row before.
        """
        page = list((rows.filter(pk__lt=self.start) if self.start else rows)[: self.size + 1])
        next_pk = page[self.size - 1].pk if len(page) > self.size else None
        return page[: self.size], next_pk

    @property
    def display(self) -> list[tuple[str, str]]:
        """The parameters for how rows are displayed, for hidden fields of a form."""
        named = ((COLUMNS, self.columns.param), (DENSITY, self.density), (VIEW, self.view))
        return [(name, value) for name, value in named if value]

    @property
    def query(self) -> str:
        """The query string of this state, such as `q=fleet&status=draft`."""
        chosen = [
            (list_filter.param, value)
            for list_filter, values in self.chosen.items()
            for value in values
        ]
        sort = [(SORT, self.sort)] if self.sort else []
        is_longer = self.definition.keeps_size and self.size > self.definition.sizes[0]
        return urlencode(
            [*chosen, *sort, *([(SHOW, self.size)] if is_longer else []), *self.display]
        )

    def url(self, **more: str | int | Sequence[str]) -> str:
        """Return the query string of this state with `?`, plus some parameters."""
        extra = {name: value for name, value in more.items() if value != ""}
        return "?" + "&".join(filter(None, (self.query, urlencode(extra, doseq=True))))

    def url_from(self, start: int | str) -> str:
        return self.url(**{self.definition.start: start})

    def url_of_loaded(self, request: Request, added: int) -> str:
        """Return the URL that shows all rows loaded so far, for Back and reloads."""
        start = [name for name in (self.definition.cursor, self.definition.start) if name]
        query = self.url(**params_for_all_rows(request, start, added))
        return request.path + query.removesuffix("?")

    @property
    def chips(self) -> list[Chip]:
        chips = []
        for list_filter, values in self.chosen.items():
            for value in values:
                others = tuple(other for other in values if other != value)
                rest = replace(self, chosen={**self.chosen, list_filter: others})
                chips.append(Chip(list_filter, value, rest.url()))
        return chips

    def headings(self, order: str = "") -> dict[str, Heading]:
        """Return the sortable headings, by the order of their first click.

        `order` is the actual order of the rows, if it differs from the state's.
        """

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).url()

        columns = self.definition.columns.all if self.definition.columns else ()
        firsts = [column.sort for column in columns if column.sort]
        return {first: heading(order or self.order, first, sorted_by) for first in firsts}


def open_list(
    request: Request,
    definition: ListDefinition,
    seen: Mapping[Filter, Collection[str]] | None = None,
) -> ListState:
    """Return the state of a list for a request, without values that don't exist.

    `seen` holds the existing values of filters that can't look them up.
    """
    params = request.GET.copy()
    ignored: list[IgnoredValue] = []
    orders = [Choice(SORT, "Order", values=definition.sorts)] if definition.sorts else []
    for list_filter in [*definition.filters, *orders, Choice(DENSITY, "Density", values=DENSITIES)]:
        texts = list_filter.texts(request.GET)
        missing = list_filter.missing(texts, (seen or {}).get(list_filter))
        rest = [text for text in texts if text not in missing]
        for value in missing:
            others = [text for text in texts if text != value]
            url = _url_without(definition, request.GET, list_filter.param, others)
            ignored.append(
                IgnoredValue(
                    list_filter.missing_label or list_filter.label, value[:MAX_TEXT_LENGTH], url
                )
            )
        if missing:
            params.setlist(list_filter.param, rest)
    state = ListState.parse(definition, params, request.user)
    if state.columns.unknown:
        names = ", ".join(state.columns.unknown)[:MAX_TEXT_LENGTH]
        param = [state.columns.param] if state.columns.param else []
        url = _url_without(definition, request.GET, COLUMNS, param)
        ignored.append(IgnoredValue("Column", names, url))
    saved = saved_views_of(request, definition)
    return replace(state, view=saved.hint, saved=saved, ignored=tuple(ignored))


def _url_without(
    definition: ListDefinition, params: QueryDict, name: str, values: Sequence[str]
) -> str:
    """Return the list's query string from its start, with a parameter's values replaced."""
    changed = params.copy()
    changed.setlist(name, list(values))
    for place in definition.place_params:
        changed.pop(place, None)
    return f"?{changed.urlencode()}"
