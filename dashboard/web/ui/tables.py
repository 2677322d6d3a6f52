"""Sortable headings and unreadable items of tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.contract.envelope import UnreadableItem


@dataclass(frozen=True)
class Heading:
    """A sortable column; `address` sorts by it, in reverse if it is the sort column already."""

    direction: str
    """A value of `aria-sort`."""
    address: str


def heading(sort: str, first: str, address_of: Callable[[str], str]) -> Heading:
    """Return the heading of the column that `first` sorts by; `-` before a name is descending.

    `sort` is the current order, `address_of` returns the URL of another.
    """
    column = first.removeprefix("-")
    opposite = column if first.startswith("-") else f"-{column}"
    if sort not in (first, opposite):
        return Heading("none", address_of(first))
    direction = "descending" if sort.startswith("-") else "ascending"
    return Heading(direction, address_of(opposite if sort == first else first))


class UnreadableItemRow(NamedTuple):
    """An item that can't be parsed, without its raw value, which may be anything."""

    path: str
    problem: str


def unreadable_rows(items: Iterable[UnreadableItem]) -> tuple[UnreadableItemRow, ...]:
    """Return a row for each unreadable item."""
    return tuple(UnreadableItemRow(item.path, item.problem) for item in items)
