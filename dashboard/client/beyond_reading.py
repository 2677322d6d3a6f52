"""What is JSON, and yet can be neither kept nor shown. It costs the item of a list it stands in."""

from collections.abc import Iterator
from typing import Any

from dashboard.contract.envelope import UnreadableItem, problem_path

MAX_DEPTH = 100
"""Levels of nesting; more is refused, as what shows the answer later is recursive too."""
TOO_DEEP = "nested too deeply"
CONTAINERS = (dict, list)
"""Named: a union written where each of a thousand values is looked at takes as long as the look."""
_NEST_BEGINS = 4
"""How much of the place of a nest is named: `items.3.metadata.robots`."""


class BeyondReadingError(ValueError):
    """What came is JSON, and something in it can't be kept or shown."""


class Odd(str):
    """A number that is not finite, or too long to be shown, as it was written."""

    __slots__ = ()


def too_odd(digits: str) -> str:
    """Return what is told of such a number."""
    return f"{digits[:20]} is a number beyond reading"


def with_items_set_aside(data: Any) -> Any:
    """Return the answer with those items set aside; raises ValueError on what is elsewhere."""
    items = data.get("items") if isinstance(data, dict) else None
    if isinstance(items, list):
        data = data | {"items": [_set_aside(item, index) for index, item in enumerate(items)]}
    if found := next(_beyond_reading(data), None):
        raise ValueError(found[1])
    return data


def _set_aside(item: Any, index: int) -> Any:
    """Return the item, or what is told of one that is beyond reading."""
    found = next(_beyond_reading(item, "items", index), None)
    if found is None:
        return item
    place, problem = found
    path, raw = problem_path(place), _outline(item)
    return UnreadableItem(index=index, path=path, problem=problem, raw=raw)


def _beyond_reading(value: Any, *place: int | str) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Yield each place that is beyond reading, and why; of a deep nest where it begins."""
    if isinstance(value, Odd):
        yield place, too_odd(value)
    elif isinstance(value, CONTAINERS) and len(place) >= MAX_DEPTH:
        yield place[:_NEST_BEGINS], TOO_DEEP
    elif isinstance(value, CONTAINERS):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _beyond_reading(inner, *place, name)


def _outline(item: Any) -> Any:
    """Return an item's own texts, numbers and so on: what is nested in it may have no end."""
    if not isinstance(item, dict):
        return None
    return {name: value for name, value in item.items() if not isinstance(value, CONTAINERS)}
