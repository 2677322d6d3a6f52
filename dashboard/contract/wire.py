"""What every wire model shares: camelCase outside, snake_case inside, unknown fields kept."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

MAX_SAFE_INTEGER = 9_007_199_254_740_991
"""The spec's upper bound for counts and version numbers (Limits)."""

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]


class WireModel(BaseModel):
    """One JSON object of the API.

    Read tolerantly: unknown fields are kept, so that they can be shown. Types are strict: the
    text "5" is no number, and a wrong type is an error that names its path.
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
        """Return the JSON object as the wire has it: camelCase, and only what was set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
