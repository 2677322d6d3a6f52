"""What the body of a request must be: at most 1 MiB of JSON that can be kept as it is."""

import json
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser
from pydantic_core import from_json

from dashboard.embedded_api.problems import (
    HOLDS_NUL,
    MAX_ERRORS,
    FieldError,
    ProblemError,
    fields_not_accepted,
)

MAX_BODY_BYTES = 1 << 20
MAX_DEPTH = 20
"""Levels of nesting. Five are enough for a page; an answer lays two more around what is kept."""
BEYOND_READING = 10**308
"""Numbers of more digits are too large for a reader that has floats alone."""


class JsonParser(Parser):
    """Reads a body, or says why not. It is called only for a body that is not empty."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the JSON value. Raises ProblemError: 413, 415, 400 or 422."""
        refuse_too_large(len(request.body))
        if request.content_type != "application/json":
            detail = "Send the body as Content-Type: application/json."
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
        try:
            from_json(request.body, allow_inf_nan=False)
            # The strict reader keeps the last of two fields of one name; this one shows both.
            value = json.loads(request.body, object_pairs_hook=_object)
        except ValueError as failure:
            detail = f"The body is not JSON: {failure}."
            raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None
        if errors := list(islice(_not_accepted(value), MAX_ERRORS)):
            raise fields_not_accepted(errors)
        return value


def refuse_too_large(size: int) -> None:
    """Raise a 413 for a body of more than 1 MiB; `size` is in bytes."""
    if size > MAX_BODY_BYTES:
        detail = f"The body has {size:,} bytes; at most {MAX_BODY_BYTES:,} are read."
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)


class _Ambiguous(dict[str, Any]):
    """A JSON object that gives a name more than once; of such a name it holds the last value."""

    repeated: frozenset[str]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    counts = Counter(name for name, _ in pairs)
    ambiguous = _Ambiguous(fields)
    ambiguous.repeated = frozenset(name for name, count in counts.items() if count > 1)
    return ambiguous


def _not_accepted(value: Any, *path: str) -> Iterator[FieldError]:
    """Yield each place that holds what can't be kept as it is, or could not be read again."""
    if problem := _problem(value, levels_above=len(path)):
        yield FieldError(path=".".join(path), message=problem)
    elif isinstance(value, dict):
        for name, inner in value.items():
            shown = (*path, name.replace("\0", "\\0"))
            yield from _not_accepted(name, *shown)
            yield from _not_accepted(inner, *shown)
            if isinstance(value, _Ambiguous) and name in value.repeated:
                yield FieldError(path=".".join(shown), message="is given more than once")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _not_accepted(inner, *path, str(index))


def _problem(value: Any, *, levels_above: int) -> str:
    """Return what is wrong with a value itself; "" where nothing is."""
    if isinstance(value, str) and "\0" in value:
        return HOLDS_NUL
    if isinstance(value, int | float) and not abs(value) < BEYOND_READING:
        return "is too large a number"
    if isinstance(value, dict | list) and levels_above >= MAX_DEPTH:
        return "is nested too deeply"
    return ""
