"""The paginated list envelope of operations 1, 4, 7 and 8."""

from collections.abc import Iterable
from typing import Annotated, Generic, TypeVar

from dashboard.contract.resource import Resource, UnreadableValue, below
from dashboard.contract.wire import ESSENTIAL, Count

ItemT = TypeVar("ItemT", bound=Resource)


class ListEnvelope(Resource, Generic[ItemT]):
    """One part of a list. Source: spec, Paginated list envelope."""

    has_more: bool
    # Without it, the list would seem to be empty.
    items: Annotated[list[ItemT], ESSENTIAL]
    total_count: Count
    next_cursor: str | None = None

    @property
    def unreadable_items(self) -> list[UnreadableValue]:
        """The items that could not be read; `items` has the others."""
        return [value for value in self.unreadable if value.location[0] == "items"]

    def set_aside(self, values: Iterable[UnreadableValue]) -> None:
        """Attach what could not be read inside an item to that item."""
        own: list[UnreadableValue] = []
        inside: dict[int | str, list[UnreadableValue]] = {}
        for value in values:
            match value.location:
                case ("items", index, _, *_):
                    inside.setdefault(index, []).append(value)
                case _:
                    own.append(value)
        super().set_aside(own)
        left_out = {value.index for value in self.unreadable_items}
        received = range(len(self.items) + len(left_out))
        readable = (index for index in received if index not in left_out)
        for index, item in zip(readable, self.items, strict=True):
            if index in inside:
                item.set_aside(below(inside[index], "items", index))
