"""What is told of items that can't be read."""

from collections.abc import Iterable
from typing import NamedTuple

from dashboard.contract.envelope import UnreadableItem


class Unread(NamedTuple):
    """An item that can't be read, without what stands in its place: that may be anything."""

    path: str
    problem: str


def unread(items: Iterable[UnreadableItem]) -> tuple[Unread, ...]:
    """Return what is told of the items."""
    return tuple(Unread(item.path, item.problem) for item in items)
