"""Columns of a table: which are shown, and in which order, by `?columns=`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.web.ui.csv import Cell

COLUMNS = "columns"
"""The parameter of those that are shown."""
CHECKED, MOVE = "column", "move"
"""The fields of the form: a column that is checked, in order; the column to move, as `name-up`."""


@dataclass(frozen=True)
class Column:
    """One column; `name` is its name in the URL."""

    name: str
    label: str
    sort: str = ""
    """The order of the first click, such as `-updated`, if the table can be sorted by it."""
    classes: str = ""
    """CSS classes of its heading."""
    value: str | Callable[[Any], object] | None = None
    """What the export has of it, as for a cell."""
    heading: str = ""
    """Its heading in the export, if that is another one."""

    @property
    def csv(self) -> Cell | None:
        return Cell(self.heading or self.label, self.value) if self.value else None


@dataclass(frozen=True)
class VisibleColumns:
    """The columns of a table as a URL chooses them."""

    visible: tuple[Column, ...]
    """In order; the first one is always the name."""
    hidden: tuple[Column, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names of the URL that no column has."""
    param: str = ""
    """The value of `?columns=`; empty for the default columns."""

    @property
    def optional(self) -> tuple[Column, ...]:
        """The shown columns that can be moved and hidden: all but the first."""
        return self.visible[1:]


@dataclass(frozen=True)
class Columns:
    """All columns of a table, the one that is always shown first, and those shown by default."""

    all: tuple[Column, ...]
    default: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise LookupError if a default column is none of all."""
        if unknown := {*self.default} - {column.name for column in self.all}:
            raise LookupError(f"Unknown columns: {', '.join(sorted(unknown))}")

    def choose(self, text: str) -> VisibleColumns:
        """Parse `?columns=`, such as `name,status`; unknown names are listed, not shown."""
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
    """Return the query string of the list with the checked columns of the form, one moved."""
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
    """A sortable column; `url` sorts by it, in reverse if it is the sort column already."""

    direction: str
    """A value of `aria-sort`."""
    url: str


def heading(sort: str, first: str, url_for: Callable[[str], str]) -> Heading:
    """Return the heading of the column that `first` sorts by; `-` before a name is descending.

    `sort` is the current order, `url_for` returns the URL of another.
    """
    column = first.removeprefix("-")
    opposite = column if first.startswith("-") else f"-{column}"
    if sort not in (first, opposite):
        return Heading("none", url_for(first))
    direction = "descending" if sort.startswith("-") else "ascending"
    return Heading(direction, url_for(opposite if sort == first else first))


def no_cell(column: Column) -> str:
    """Refuse to render a row without one of its cells: for templates."""
    raise LookupError(f"The row has no cell for the column {column.name}.")
