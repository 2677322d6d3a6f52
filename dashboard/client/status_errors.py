"""Responses outside 2xx as errors, with the service's own words.

The spec shows no error body: the usual names of its fields are tried.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import responses
from typing import Any

import httpx

from dashboard.client.errors import (
    AuthenticationError,
    ConflictError,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from dashboard.client.response_parsing import BODY_HEAD, decode_text, parse_json
from dashboard.client.retries import read_retry_after_s

MAX_MESSAGE = 500
MAX_PROBLEMS = 100

_BY_STATUS: dict[int, type[StatusError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    # A request that timed out at the service may be partly executed.
    408: ServerError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitedError,
}


def status_error(response: httpx.Response, body: bytes) -> StatusError:
    """Return the error of a response outside 2xx with this body."""
    text, status_code = decode_text(body), response.status_code
    try:
        data = parse_json(text)
    except ValueError:
        data = None
    otherwise = InvalidRequestError if 400 <= status_code < 500 else ServerError
    return _BY_STATUS.get(status_code, otherwise)(
        status_code=status_code,
        message=(_message(data) or responses.get(status_code, "Unknown status"))[:MAX_MESSAGE],
        body=text[:BODY_HEAD],
        problems=tuple(_problems(data))[:MAX_PROBLEMS],
        retry_after_s=read_retry_after_s(
            response.headers.get("retry-after"), now=datetime.now(UTC)
        ),
    )


def _message(data: Any) -> str:
    """Return the first text among the usual names, on one line, or ""."""
    if not isinstance(data, dict):
        return ""
    for name in ("detail", "message", "title", "error"):
        value = data.get(name)
        if isinstance(value, list):
            value = "; ".join(problem.message for problem in _problems(data))
        if isinstance(value, dict):
            value = _message(value)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def _problems(data: Any) -> Iterator[FieldProblem]:
    for name in ("errors", "detail"):
        entries = data.get(name) if isinstance(data, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            message = _first(entry, "message", "msg")
            if isinstance(message, str):
                path = _first(entry, "path", "loc", "field")
                yield FieldProblem(path=_path(path), message=message[:MAX_MESSAGE])


def _first(entry: Any, *names: str) -> Any:
    named = entry if isinstance(entry, dict) else {}
    return next((named[name] for name in names if named.get(name) is not None), None)


def _path(path: Any) -> str:
    """Return `metadata.title` for that text, and for `["body", "metadata", "title"]`."""
    if isinstance(path, list):
        return ".".join(str(part) for part in path if part != "body")[:MAX_MESSAGE]
    return str(path)[:MAX_MESSAGE] if isinstance(path, str | int) else ""
