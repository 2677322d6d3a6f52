"""Tables: sortable headings, options of filters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dashboard.ledger.queries.pages import NOT_GIVEN


@dataclass(frozen=True)
class Chip:
    """An active filter above a table; `url` is the list without it."""

    kind: str
    """`words`, or the query parameter of a filter."""
    value: str
    url: str


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


@dataclass(frozen=True)
class FilterOption:
    """One value of a filter."""

    value: str
    count: int | None
    """Items with this value, with the other filters applied; None if not counted."""
    is_chosen: bool

    @property
    def is_not_given(self) -> bool:
        """Whether it selects the items for which the service gave no value."""
        return self.value == NOT_GIVEN


def choices(
    known: Iterable[str], counts: Mapping[str, int], chosen: Iterable[str]
) -> list[FilterOption]:
    """Return options for the spec's values, then for others seen or chosen; "not given" last."""
    values = dict.fromkeys([*map(str, known), *sorted(counts), *chosen])
    ordered = sorted(values, key=lambda value: value == NOT_GIVEN)
    return [FilterOption(value, counts.get(value, 0), value in {*chosen}) for value in ordered]
