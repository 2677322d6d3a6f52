"""Columns of a table. `?columns=` says which are shown, and in which order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.web.ui.csv import Cell

COLUMNS = "columns"
"""Query parameter with the visible columns."""
CHECKED, MOVE = "column", "move"
"""Fields of the form: the checked columns in order, and the column to move, as `name-up`."""


@dataclass(frozen=True)
class Column:
    """A column of a table. `name` is its name in the URL."""

    name: str
    label: str
    sort: str = ""
    """Order after the first click, such as `-updated`; "" if the column doesn't sort."""
    classes: str = ""
    value: str | Callable[[Any], object] | None = None
    """Value in the export, as in `Cell`; None leaves the column out."""
    heading: str = ""
    """Heading in the export, if it differs from `label`."""

    @property
    def csv(self) -> Cell | None:
        return Cell(self.heading or self.label, self.value) if self.value else None


@dataclass(frozen=True)
class VisibleColumns:
    """The columns of a table that a URL chooses."""

    visible: tuple[Column, ...]
    """Visible columns in order. The first one is always shown."""
    hidden: tuple[Column, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names in the URL that no column has."""
    param: str = ""
    """Value of `?columns=`; empty for the default columns."""

    @property
    def optional(self) -> tuple[Column, ...]:
        """The visible columns that can be moved and hidden: all except the first."""
        return self.visible[1:]


@dataclass(frozen=True)
class Columns:
    """All columns of a table, and the default ones. The first column is always shown."""

    all: tuple[Column, ...]
    default: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise LookupError if a default column doesn't exist."""
        if unknown := {*self.default} - {column.name for column in self.all}:
            raise LookupError(f"Unknown columns: {', '.join(sorted(unknown))}")

    def choose(self, text: str) -> VisibleColumns:
        """Parse `?columns=`, such as `name,status`. Unknown names go to `unknown`."""
        wanted = [name for name in dict.fromkeys(text.split(",")) if name]
        by_name = {column.name: column for column in self.all}
        first = self.all[0].name
        chosen = [name for name in wanted if name in by_name and name != first]
        names = (first, *chosen) if wanted and (chosen or first in wanted) else self.default
        return VisibleColumns(
            visible=tuple(by_name[name] for name in names),
            hidden=tuple(column for column in self.all if column.name not in names),
            unknown=tuple(name for name in wanted if name not in by_name),
            param="" if names == self.default else ",".join(names),
        )


def url_of_form(params: QueryDict, columns: Columns) -> str:
    """Return the list's query string for a submitted column form.

    It has the checked columns, with one of them moved if the form says so.
    """
    first = columns.all[0].name
    names = [name for name in params.getlist(CHECKED) if name != first]
    moved, _, direction = params.get(MOVE, "").rpartition("-")
    if moved in names:
        place = names.index(moved)
        names.insert(max(place + (-1 if direction == "up" else 1), 0), names.pop(place))
    param = columns.choose(",".join((first, *names))).param
    others = [(name, value) for name, values in params.lists() for value in values]
    rest = [pair for pair in others if pair[0] not in (CHECKED, MOVE, COLUMNS) and pair[1]]
    return urlencode([*rest, *([(COLUMNS, param)] if param else [])])


@dataclass(frozen=True)
class Heading:
    """Heading of a sortable column. `url` sorts by it, or reverses the order."""

    direction: str
    """Value of `aria-sort`."""
    url: str


def heading(sort: str, first: str, url_for: Callable[[str], str]) -> Heading:
    """Return the heading of the column whose first click sorts by `first`.

    `sort` is the current order. A `-` before a name means descending. `url_for` returns the URL
    for an order.
    """
    column = first.removeprefix("-")
    opposite = column if first.startswith("-") else f"-{column}"
    if sort not in (first, opposite):
        return Heading("none", url_for(first))
    direction = "descending" if sort.startswith("-") else "ascending"
    return Heading(direction, url_for(opposite if sort == first else first))


def no_cell(column: Column) -> str:
    """Raise LookupError. For templates whose rows lack a cell for a column."""
    raise LookupError(f"The row has no cell for the column {column.name}.")
