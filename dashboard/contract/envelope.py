"""The paginated list envelope of operations 1, 4, 7 and 8."""

from typing import Any, Generic, TypeVar, get_args

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from dashboard.contract.wire import Count, WireModel

ItemT = TypeVar("ItemT")


class UnreadableItem(WireModel):
    """An item that violates the spec; the other items remain usable (our choice)."""

    index: int
    path: str
    """The path in the response, such as `items.3.status`."""
    problem: str
    raw: Any = None


class ListEnvelope(WireModel, Generic[ItemT]):
    """One part of a list. Source: spec, Paginated list envelope."""

    has_more: bool
    items: list[ItemT]
    total_count: Count
    next_cursor: str | None = None
    unreadable: list[UnreadableItem] = Field(default=[], exclude=True)

    @model_validator(mode="wrap")
    @classmethod
    def _set_unreadable_items_aside(
        cls, data: Any, validate: ModelWrapValidatorHandler["ListEnvelope[ItemT]"]
    ) -> "ListEnvelope[ItemT]":
        if not isinstance(data, dict) or not isinstance(data.get("items"), list):
            return validate(data)
        # Validating items one by one takes twice as long, and is rarely needed.
        try:
            return validate(data | {"unreadable": []})
        except ValidationError:
            item_type = get_args(cls.model_fields["items"].annotation)[0]
            return validate(data | _read_one_by_one(data["items"], TypeAdapter(item_type)))


def _read_one_by_one(items: list[Any], adapter: TypeAdapter[Any]) -> dict[str, list[Any]]:
    readable: list[Any] = []
    unreadable: list[UnreadableItem] = []
    for index, item in enumerate(items):
        if isinstance(item, UnreadableItem):  # found by the parser
            unreadable.append(item)
            continue
        try:
            readable.append(adapter.validate_python(item, by_name=False))
        except ValidationError as failure:
            found = failure.errors(include_url=False, include_input=False)[0]
            path, problem = problem_path(("items", index, *found["loc"])), found["msg"]
            unreadable.append(UnreadableItem(index=index, path=path, problem=problem, raw=item))
    return {"items": readable, "unreadable": unreadable}


def problem_path(location: tuple[int | str, ...]) -> str:
    """Return a validation error's location as a path, such as `items.3.status`."""
    return ".".join(str(part) for part in location) or "(the whole response)"
