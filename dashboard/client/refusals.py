"""Answers outside 2xx: which error they are, and what the service said. Its shape is not shown."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from dashboard.client.errors import (
    ConflictError,
    FieldProblem,
    InvalidRequestError,
    KeyRefusedError,
    NotFoundError,
    RateLimitedError,
    ServiceFaultError,
    StatusError,
)
from dashboard.client.reading import BODY_HEAD, read_json

MAX_SAID = 500
MAX_PROBLEMS = 100

_BY_STATUS: dict[int, type[StatusError]] = {
    401: KeyRefusedError,
    403: KeyRefusedError,
    404: NotFoundError,
    # A request that timed out at the service may be half carried out.
    408: ServiceFaultError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitedError,
}


def read_refusal(text: str, *, status_code: int, retry_after_s: float | None) -> StatusError:
    """Return the error that stands for an answer outside 2xx, in the service's own words."""
    try:
        data = read_json(text)
    except ValueError:
        data = None
    otherwise = InvalidRequestError if 400 <= status_code < 500 else ServiceFaultError
    return _BY_STATUS.get(status_code, otherwise)(
        status_code=status_code,
        said=(_words(data) or _status_name(status_code))[:MAX_SAID],
        body=text[:BODY_HEAD],
        problems=tuple(_problems(data))[:MAX_PROBLEMS],
        retry_after_s=retry_after_s,
    )


def _words(data: Any) -> str:
    """Return the first text among the usual names, on one line; "" where there is none."""
    if not isinstance(data, dict):
        return ""
    for name in ("detail", "message", "title", "error"):
        value = data.get(name)
        if isinstance(value, list):
            value = "; ".join(problem.message for problem in _problems(data))
        if isinstance(value, dict):
            value = _words(value)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def _problems(data: Any) -> Iterator[FieldProblem]:
    for name in ("errors", "detail"):
        entries = data.get(name) if isinstance(data, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            message = _first(entry, "message", "msg")
            if isinstance(message, str):
                place = _first(entry, "path", "loc", "field")
                yield FieldProblem(path=_place(place), message=message[:MAX_SAID])


def _first(entry: Any, *names: str) -> Any:
    named = entry if isinstance(entry, dict) else {}
    return next((named[name] for name in names if named.get(name) is not None), None)


def _place(place: Any) -> str:
    """Return `metadata.title` for that text, and for `["body", "metadata", "title"]`."""
    if isinstance(place, list):
        return ".".join(str(part) for part in place if part != "body")[:MAX_SAID]
    return str(place)[:MAX_SAID] if isinstance(place, str | int) else ""


def _status_name(status_code: int) -> str:
    try:
        return HTTPStatus(status_code).phrase
    except ValueError:
        return "a status without a name"
