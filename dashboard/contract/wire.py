"""Base of the API's models, and its values: counts, identifiers, numbers and dates.

camelCase outside, snake_case inside, unknown fields preserved. A date is a TypeID that contains a
time, ISO 8601, or other text. Source: spec, Identifier and timestamp fields (pattern
`^accountlog_[a-z0-9]{26}$`); parsing other texts is our choice, as the spec names no other format.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

MAX_SAFE_INTEGER = 9_007_199_254_740_991
"""The spec's upper bound for counts and version numbers (Limits)."""

MAX_IDENTIFIER_BYTES = 750
"""Our choice, as the spec has no limit: we index three identifiers together, and PostgreSQL allows
2,704 bytes per index entry."""

ESSENTIAL = object()
"""Marks a field that may be absent, but can't be spared if it is unreadable: without it, the object
would be mistaken for another one."""

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
DateText = Annotated[str, Field(min_length=1)]
"""A date as received; see `read_date`."""

MARK_PREFIX = "accountlog_"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32, as TypeIDs write it
_TO_BASE_32 = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""Translation to the base-32 digits that Python reads."""
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_DATE_LENGTH = 64
"""Maximum length in characters. Longer texts are no dates, and are not parsed."""
_MILLISECONDS_ABOVE = 1e11


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
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="allow", frozen=True, populate_by_name=True, strict=True
    )

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object with camelCase names and only the fields that were set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def to_json(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_unset=True)


def read_date(text: str | None) -> datetime | None:
    """Parse a date text to a time in UTC; return None if it is no date.

    ISO 8601 without a zone means UTC.
    """
    return _read_date(text) if text and len(text) <= _MAX_DATE_LENGTH else None


@lru_cache(maxsize=2_000)  # lists are polled with the same dates
def _read_date(text: str) -> datetime | None:
    if text.startswith(MARK_PREFIX):
        return _time_of_uuid7(text.removeprefix(MARK_PREFIX))
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def is_mark(text: str | None) -> bool:
    return bool(text) and str(text).startswith(MARK_PREFIX)


def write_mark(moment: datetime, *, random_bits: Callable[[int], int] = secrets.randbits) -> str:
    """Return `accountlog_` and a UUIDv7 of that time, which sorts by time and is unique."""
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    number = milliseconds << 80 | 0x7 << 76 | random_bits(12) << 64
    number |= 0b10 << 62 | random_bits(62)
    letters = [_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)]
    return MARK_PREFIX + "".join(letters)


def read_timestamp(number: float | None) -> datetime | None:
    """Parse a message's timestamp: milliseconds above 1e11, seconds otherwise.

    Source: spec gives "number"; the unit is our guess: 1e11 seconds are the year 5138.
    """
    if number is None:
        return None
    try:
        seconds = number / 1000 if abs(number) > _MILLISECONDS_ABOVE else number
        return _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def _time_of_uuid7(letters: str) -> datetime | None:
    if len(letters) != 26 or letters[0] > "7" or not set(letters) <= set(_ALPHABET):
        return None
    number = int(letters.translate(_TO_BASE_32), 32)
    is_version_7 = number >> 76 & 0xF == 0x7 and number >> 62 & 0b11 == 0b10
    try:
        return _EPOCH + timedelta(milliseconds=number >> 80) if is_version_7 else None
    except OverflowError:
        return None
