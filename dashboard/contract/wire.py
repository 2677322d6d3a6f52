"""Base of the API's models: camelCase outside, snake_case inside, unknown fields preserved."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

MAX_SAFE_INTEGER = 9_007_199_254_740_991
"""The spec's upper bound for counts and version numbers (Limits)."""

MAX_IDENTIFIER_BYTES = 750
"""Our choice, as the spec has no limit: we index three identifiers together, and PostgreSQL allows
2,704 bytes per index entry."""


class _Essential:
    """See `ESSENTIAL`."""


ESSENTIAL = _Essential()
"""Marks a field that may be absent, but can't be spared if it is unreadable: without it, the object
would be mistaken for another one."""

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]


def _checked_length(identifier: str) -> str:
    if len(identifier.encode()) > MAX_IDENTIFIER_BYTES:
        raise ValueError(f"longer than {MAX_IDENTIFIER_BYTES} bytes")
    return identifier


Identifier = Annotated[str, AfterValidator(_checked_length)]
"""An identifier that the ledger indexes."""


def _as_sent(number: float) -> int | float:
    is_whole = number.is_integer() and abs(number) <= MAX_SAFE_INTEGER
    return int(number) if is_whole else number


Number = Annotated[float, PlainSerializer(_as_sent)]
"""A JSON number; whole numbers are written as 1, not 1.0."""


class WireModel(BaseModel):
    """One JSON object of the API.

    Unknown fields are preserved, so that they can be shown. Types are strict: the text "5" is not a
    number, and a wrong type is an error with a path.
    Source: DESIGN.md, What the client accepts.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="allow",
        frozen=True,
        populate_by_name=True,
        strict=True,
    )

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object with camelCase names and only the fields that were set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def to_json(self) -> str:
        """Return the same JSON object as text."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)
