"""The declaration of a list. `state.py` combines it with a URL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from dashboard.saved_views.models import ListName
from dashboard.web.lists.columns import COLUMNS, Columns
from dashboard.web.lists.filters import Filter
from dashboard.web.ui.csv import Cell
from dashboard.web.ui.query_params import MAX_SHOWN, PAGE_SIZE, SHOW

if TYPE_CHECKING:
    from dashboard.web.lists.state import ListState

SORT, DENSITY, VIEW = "sort", "density", "view"
"""Query parameters of every list with orders or saved views."""
DENSITIES = ("compact", "comfortable")


def _not_in_the_ledger(_state: "ListState") -> QuerySet[Any]:
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ListDefinition:
    """A list: its search, filters, columns and orders, and where its rows begin."""

    name: ListName | None = None
    """Name of the list if its state can be saved as a view. Such a list also has a density."""
    search: Filter | None = None
    filters: tuple[Filter, ...] = ()
    """Filters in the order of a saved view's query string, and of the chips."""
    columns: Columns | None = None
    csv: tuple[Cell | str, ...] = ()
    """Order of the export: names of columns, and cells that the table lacks.

    The other columns follow.
    """
    default_sort: str = ""
    sizes: tuple[int, int] = (PAGE_SIZE, MAX_SHOWN)
    """Minimum and maximum number of rows that a URL shows."""
    keeps_size: bool = False
    """Whether as many rows as loaded so far are shown when the order changes."""
    start: str = ""
    """Query parameter that says where the rows begin."""
    cursor: str = ""
    """Query parameter with the service's cursor for that place."""
    progress: tuple[str, ...] = ()
    """Query parameters that loading the rest of the list uses."""
    find: Callable[["ListState"], QuerySet[Any]] = _not_in_the_ledger
    """Returns the matching rows of the ledger, to count them."""

    @property
    def narrowing(self) -> tuple[Filter, ...]:
        """The search and the filters."""
        return (*filter(None, [self.search]), *self.filters)

    @property
    def sorts(self) -> tuple[str, ...]:
        """The orders that the columns allow. A `-` before a name means descending."""
        columns = self.columns.all if self.columns else ()
        names = [column.sort.removeprefix("-") for column in columns if column.sort]
        return tuple(order for name in names for order in (name, f"-{name}"))

    @property
    def cells(self) -> list[Cell]:
        """The columns of the export. Raises KeyError if a named column has no cell."""
        columns = self.columns.all if self.columns else ()
        by_name = {column.name: column.csv for column in columns if column.csv}
        ordered = [by_name.pop(cell) if isinstance(cell, str) else cell for cell in self.csv]
        return [*ordered, *by_name.values()]

    @property
    def saved_params(self) -> tuple[str, ...]:
        """The parameters that a view saves, in the order of its query string."""
        names = [list_filter.param for list_filter in self.narrowing]
        names += [SORT] if self.sorts else []
        names += [COLUMNS] if self.columns else []
        return (*names, DENSITY)

    @property
    def place_params(self) -> tuple[str, ...]:
        """The parameters to drop when the list changes."""
        return (*filter(None, [self.start, self.cursor]), *self.progress, SHOW)

    def saved_query(self, params: QueryDict) -> str:
        """Return the part of a query string that a view saves, in a fixed order."""
        texts = {
            list_filter.param: sorted(list_filter.texts(params)) for list_filter in self.narrowing
        }
        for name in (SORT, COLUMNS, DENSITY):
            text = params.get(name, "").replace("\0", "").strip()
            is_default = name == SORT and text == self.default_sort
            texts[name] = [text] if text and not is_default else []
        return urlencode([(name, text) for name in self.saved_params for text in texts[name]])

    def __getitem__(self, param: str) -> Filter:
        """Return the filter with a parameter. Raises KeyError."""
        return {list_filter.param: list_filter for list_filter in self.narrowing}[param]
