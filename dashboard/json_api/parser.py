"""Parse request bodies: at most 1 MiB of JSON that can be stored and returned unchanged."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser
from pydantic_core import from_json

from dashboard.json_api.problems import (
    HOLDS_NUL,
    MAX_ERRORS,
    FieldError,
    ProblemError,
    invalid_fields_problem,
)

MAX_BODY_BYTES = 1 << 20
MAX_DEPTH = 20
"""Levels of nesting. A page needs five; a response adds two around the stored value."""
NUMBER_LIMIT = 10**308
"""Larger numbers overflow in clients that only have floats."""


class JsonParser(Parser):
    def parse_body(self, request: HttpRequest) -> Any:
        """Return the JSON value. Raises ProblemError: 413, 415, 400 or 422.

        Ninja calls this only for a body that is not empty.
        """
        body = limited_body(request)
        if request.content_type != "application/json":
            detail = "Send the body as Content-Type: application/json."
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
        return parse_json(body, name="The body")


def limited_body(request: HttpRequest) -> bytes:
    """Return the body. Raises ProblemError (413) if it has more than MAX_BODY_BYTES."""
    if (size := len(request.body)) > MAX_BODY_BYTES:
        detail = f"The body has {size:,} bytes; the limit is {MAX_BODY_BYTES:,}."
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return request.body


def parse_json(text: bytes, *, name: str) -> Any:
    """Return the JSON value, of any size. Raises ProblemError: 400 or 422.

    `name` begins the sentence of an error: "The body".
    """
    try:
        # pydantic's parser is strict, but drops repeated fields; Python's reports them.
        from_json(text, allow_inf_nan=False)
        value = json.loads(text, object_pairs_hook=_mark_repeated)
    except ValueError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"{name} is not JSON: {error}.") from None
    if errors := list(islice(_errors(value), MAX_ERRORS)):
        raise invalid_fields_problem(errors)
    return value


@dataclass(frozen=True)
class _Repeated:
    """The last value of a field that an object contains more than once."""

    value: Any


def _mark_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        fields |= {name: _Repeated(fields[name]) for name in fields if counts[name] > 1}
    return fields


def _errors(value: Any, *path: str) -> Iterator[FieldError]:
    if isinstance(value, _Repeated):
        yield from _errors(value.value, *path)
        yield FieldError(path=".".join(path), message="is given more than once")
    elif problem := _problem(value, depth=len(path)):
        yield FieldError(path=".".join(path), message=problem)
    elif isinstance(value, dict):
        for name, inner in value.items():
            inner_path = (*path, name.replace("\0", "\\0"))
            yield from _errors(name, *inner_path)
            yield from _errors(inner, *inner_path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _errors(inner, *path, str(index))


def _problem(value: Any, *, depth: int) -> str:
    if isinstance(value, str) and "\0" in value:
        return HOLDS_NUL
    if isinstance(value, int | float) and not abs(value) < NUMBER_LIMIT:
        return "is too large a number"
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return "is nested too deeply"
    return ""
