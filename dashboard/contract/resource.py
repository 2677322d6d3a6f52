"""Read a resource tolerantly: an unreadable value costs the smallest part that can be spared.

An optional field is left out. A required list or object becomes empty. An item of a nested list is
replaced by an empty one. An item of a response's list is left out. Each is set aside as received,
with its path: one odd value must not hide the rest of a page. Source: our choice.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import getitem
from types import UnionType
from typing import Annotated, Any, Generic, Self, TypeVar, Union, get_args, get_origin

from pydantic import PrivateAttr, ValidationError
from pydantic.fields import FieldInfo

from dashboard.contract.wire import ESSENTIAL, Count, WireModel

Location = tuple[int | str, ...]

MAX_NAME = 200
"""Maximum length of an unreadable item's name, in characters."""
_NAMES = ("effectiveName", "customName", "computedName", "name", "title", "email")


class UnreadableResourceError(ValueError):
    """A part that can't be spared is missing or unreadable; `path` names it."""

    def __init__(self, location: Location, problem: str) -> None:
        super().__init__(problem)
        self.path = problem_path(location)


@dataclass(frozen=True)
class OverLimit:
    """Stands for a value that can be neither stored nor shown, such as `NaN`."""

    text: str
    problem: str


@dataclass(frozen=True)
class UnreadableValue:
    """A value that violates the spec and was set aside."""

    location: Location
    problem: str
    problem_location: Location
    """Location of the problem: the value or something inside it."""
    raw: Any = None
    is_left_out: bool = False
    """Whether nothing takes its place."""

    @property
    def path(self) -> str:
        return problem_path(self.problem_location)

    @property
    def index(self) -> int:
        return int(self.location[-1])

    @property
    def name(self) -> str:
        fields = self.raw if isinstance(self.raw, dict) else {}
        names = (fields.get(key) for key in _NAMES)
        return next((name[:MAX_NAME] for name in names if name and isinstance(name, str)), "")


def below(values: Sequence[UnreadableValue], *location: int | str) -> list[UnreadableValue]:
    """Return the values at or below a location, with their locations relative to it."""
    depth = len(location)
    return [
        replace(
            value, location=value.location[depth:], problem_location=value.problem_location[depth:]
        )
        for value in values
        if value.location[:depth] == location
    ]


class Resource(WireModel):
    """A response, or an item of its list."""

    _unreadable: tuple[UnreadableValue, ...] = PrivateAttr(default=())

    @property
    def unreadable(self) -> tuple[UnreadableValue, ...]:
        return self._unreadable

    def set_aside(self, values: Iterable[UnreadableValue]) -> None:
        self._unreadable = tuple(values)

    @classmethod
    def from_json(cls, text: str) -> Self:
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return read_resource(cls, json.loads(text))

    def as_received(self) -> dict[str, Any]:
        """Return the JSON object with the unreadable values back in place."""
        received = self.to_wire()
        for value in sorted(self._unreadable, key=lambda value: value.location):
            parent = _parent_of(value.location, received)
            if isinstance(parent, list) and value.is_left_out:
                parent.insert(value.index, value.raw)
            else:
                parent[value.location[-1]] = value.raw
        return received

    def to_json(self) -> str:
        if not self._unreadable:
            return super().to_json()
        return json.dumps(self.as_received(), ensure_ascii=False, separators=(",", ":"))


ResourceT = TypeVar("ResourceT", bound=Resource)
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
        return [value for value in self.unreadable if value.location[0] == "items"]

    def set_aside(self, values: Iterable[UnreadableValue]) -> None:
        """Attach the unreadable values inside an item to that item."""
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


def read_resource(
    model: type[ResourceT], data: Any, *, over_limits: Mapping[Location, str] | None = None
) -> ResourceT:
    """Return JSON data as a resource; unreadable parts are taken out of `data` and set aside.

    `over_limits` maps the location of each OverLimit in the data to its problem. Raises
    UnreadableResourceError.
    """
    unreadable: list[UnreadableValue] = []
    resource, problems = _validate(model, data)
    problems |= over_limits or {}
    while problems or resource is None:
        unreadable += _take_out(model, data, problems)
        resource, problems = _validate(model, data)
    resource.set_aside(unreadable)
    return resource


def problem_path(location: Location) -> str:
    return ".".join(str(step) for step in location) or "(the whole response)"


def _validate(model: type[ResourceT], data: Any) -> tuple[ResourceT | None, dict[Location, str]]:
    try:
        # The wire doesn't know our own field names.
        return model.model_validate(data, by_name=False), {}
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return None, {detail["loc"]: detail["msg"] for detail in details}


def _parent_of(location: Location, data: Any) -> Any:
    return reduce(getitem, location[:-1], data)


def _take_out(
    model: type[Resource], data: Any, problems: Mapping[Location, str]
) -> list[UnreadableValue]:
    """Take the parts with problems out of the data, the last first, so that indexes stay valid."""
    losses: dict[Location, tuple[Any, Location]] = {}
    for location in problems:
        loss = _loss(model, data, location)
        if loss is None:
            raise UnreadableResourceError(location, problems[location])
        losses.setdefault(loss[0], (loss[1], location))
    taken = []
    for location in sorted(losses, reverse=True):
        if any(location[:depth] in losses for depth in range(1, len(location))):
            continue  # lost with what contains it
        remainder, problem_location = losses[location]
        parent, last = _parent_of(location, data), location[-1]
        value = UnreadableValue(
            location,
            problems[problem_location],
            problem_location,
            raw=_plain(parent[last]),
            is_left_out=remainder is _NOTHING,
        )
        if remainder is _NOTHING:
            del parent[last]
        else:
            parent[last] = remainder
        taken.append(value)
    return taken[::-1]


_NOTHING = object()


def _loss(model: type[Resource], data: Any, location: Location) -> tuple[Location, Any] | None:
    """Return the smallest part at or around a location that can be spared, and its replacement.

    None if nothing can be spared.
    """
    kind: Any = model
    loss: tuple[Location, Any] | None = None
    for depth, step in enumerate(location, start=1):
        if _is_model(kind):
            field = _fields(kind).get(str(step))
            if field is None:  # unknown to the spec
                return location[:depth], _NOTHING
            if step not in data:  # missing, so the object around it is unreadable
                return loss
            kind = _bare(field.annotation)
            remainder = _empty(kind) if field.is_required() else _NOTHING
            can_be_spared = not field.is_required() or remainder is not _NOTHING
            if can_be_spared and ESSENTIAL not in field.metadata:
                loss = location[:depth], remainder
        elif get_origin(kind) is list:
            kind = _bare(get_args(kind)[0])
            loss = location[:depth], _empty(kind)
        else:
            return loss
        data = data[step]
    return loss


def _empty(kind: Any) -> Any:
    if get_origin(kind) is list:
        return []
    if _is_model(kind) and not issubclass(kind, Resource):
        return _NOTHING if any(field.is_required() for field in _fields(kind).values()) else {}
    return _NOTHING


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, WireModel)


def _bare(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return _bare(next(kind for kind in get_args(annotation) if kind is not type(None)))
    return annotation


@lru_cache(maxsize=64)
def _fields(model: type[WireModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _plain(value: Any) -> Any:
    match value:
        case OverLimit():
            return value.text
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value
