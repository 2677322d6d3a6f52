"""What the body of a request must be: at most 1 MiB of JSON that can be kept as it is."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser
from pydantic_core import from_json

from dashboard.contract.wire import MAX_SAFE_INTEGER
from dashboard.embedded_api.problems import FieldError, ProblemError, fields_not_accepted

MAX_BODY_BYTES = 1 << 20
MAX_DEPTH = 20
"""Levels of nesting. Five are enough for a page; an answer lays two more around what is kept."""


class JsonParser(Parser):
    """Reads a body, or says why not. It is called only for a body that is not empty."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the JSON value. Raises ProblemError: 413, 415, 400 or 422."""
        refuse_too_large(len(request.body))
        if request.content_type != "application/json":
            detail = "Send the body as Content-Type: application/json."
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
        try:
            value = from_json(request.body, allow_inf_nan=False)
        except ValueError as failure:
            detail = f"The body is not JSON: {failure}."
            raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None
        if errors := list(unstorable(value)):
            raise fields_not_accepted(errors)
        return value


def refuse_too_large(size: int) -> None:
    """Raise a 413 for a body of more than 1 MiB; `size` is in bytes."""
    if size > MAX_BODY_BYTES:
        detail = f"The body has {size:,} bytes; at most {MAX_BODY_BYTES:,} are read."
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)


def unstorable(value: Any, *path: str) -> Iterator[FieldError]:
    """Yield each place that holds what can't be kept, or what others could not read again.

    That is a NUL, a number beyond what every reader of JSON holds exactly, and a nest too deep.
    """
    if isinstance(value, str) and "\0" in value:
        yield FieldError(path=".".join(path), message="must not hold a NUL character")
    elif isinstance(value, int | float) and not abs(value) <= MAX_SAFE_INTEGER:
        yield FieldError(path=".".join(path), message="is too large a number")
    elif isinstance(value, dict | list) and len(path) >= MAX_DEPTH:
        yield FieldError(path=".".join(path), message="is nested too deeply")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from unstorable(name, *path, name.replace("\0", "\\0"))
            yield from unstorable(inner, *path, name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from unstorable(inner, *path, str(index))
