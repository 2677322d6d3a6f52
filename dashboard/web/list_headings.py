"""The headings of columns that a list can be sorted by."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A column to sort by; `address` sorts by it, the other way when it does already."""

    direction: str
    """As `aria-sort` has it."""
    address: str


def heading(sort: str, first: str, address_of: Callable[[str], str]) -> Heading:
    """Return the heading of the column that `first` sorts by; `-` before a name is descending.

    `sort` is the order now, `address_of` gives the address of another.
    """
    column = first.removeprefix("-")
    turned = column if first.startswith("-") else f"-{column}"
    if sort not in (first, turned):
        return Heading("none", address_of(first))
    direction = "descending" if sort.startswith("-") else "ascending"
    return Heading(direction, address_of(turned if sort == first else first))
