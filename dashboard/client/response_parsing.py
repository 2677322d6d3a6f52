"""Read a response: bytes to text, text to JSON, JSON to a model of the contract.

A body is decompressed while it arrives, and never more of it than the limit. JSON that the
dashboard can neither store nor show (nesting, numbers) is refused; in a list, only the affected
item is.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from dashboard.client.errors import InvalidResponseError
from dashboard.contract.envelope import UnreadableItem, problem_path
from dashboard.contract.wire import WireModel

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of a decompressed response. Source: our choice (DESIGN.md)."""
MAX_ERROR_BODY_BYTES = 4 * 1024 * 1024
"""Maximum size of a response outside 2xx: a message, and each rejected field."""
BODY_HEAD = 2_000
"""Characters of a body stored with an error."""
WHOLE_RESPONSE = problem_path(())
MAX_DEPTH = 100
"""Levels of nesting. The code that shows the response is recursive too."""
MAX_DIGITS = 308
"""Digits of an integer: longer ones exceed a float, and Python parses at most 4300."""
TOO_DEEP = "nested too deeply"

_ENCODINGS = {"", "identity", "gzip", "deflate"}
"""Accepted encodings, one at a time: nested compression multiplies the size twice."""
_CONTAINERS = (dict, list)
"""Named: to write this union where a thousand values are checked takes as long as the checks."""
_PATH_OF_NEST = 4
"""Steps shown of the path to a deeply nested value: `items.3.metadata.robots`."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
"""Escapes that can still be unstorable in a text returned by `decode_text`."""

ModelT = TypeVar("ModelT", bound=WireModel)
Path = tuple[int | str, ...]


def read_body(response: httpx.Response) -> bytes:
    """Return the decompressed body.

    Raises InvalidResponseError above MAX_BODY_BYTES, and if it can't be decompressed.
    """
    problem = f"larger than {MAX_BODY_BYTES // 1024 // 1024} MiB"
    try:
        body = b"".join(_chunks(response, MAX_BODY_BYTES))
        if len(body) <= MAX_BODY_BYTES:
            return body
    except httpx.DecodingError:
        problem = "it can't be decompressed"
    # Raised outside the handler: httpx's exception holds the request, and that the API key.
    raise InvalidResponseError(problem, path=WHOLE_RESPONSE, status_code=response.status_code)


def read_error_body(response: httpx.Response) -> bytes:
    """Return the part of a body that arrives; the status counts even if the rest is lost."""
    body = bytearray()
    with suppress(httpx.TransportError, httpx.DecodingError):
        for chunk in _chunks(response, MAX_ERROR_BODY_BYTES):
            body += chunk
    return bytes(body)


def _chunks(response: httpx.Response, max_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed body, and stop once it is larger than `max_bytes`."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise httpx.DecodingError("an unexpected encoding")
    size = 0
    for chunk in response.iter_bytes():
        yield chunk
        size += len(chunk)
        if size > max_bytes:
            break


def decode_text(body: bytes) -> str:
    """Return a body as text; NUL and invalid UTF-8 become U+FFFD, which databases store."""
    # Decoded text holds no surrogate; searching for NUL alone is ten times as fast.
    return body.decode("utf-8-sig", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def strip_unstorable(text: str) -> str:
    """Return the text with U+FFFD for NUL and lone surrogates."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def parse_response(body: bytes, *, status_code: int, model: type[ModelT]) -> ModelT:
    """Return the response as a `model`; in a list, an UnreadableItem for each item over the limits.

    Raises InvalidResponseError, naming the path, if the body is no JSON or not what the spec says.
    """
    text = decode_text(body)
    try:
        data, is_over_limits = _load(text)
        if is_over_limits:
            items = data.get("items") if isinstance(data, dict) else None
            if isinstance(items, list):
                data["items"] = [_readable(item, index) for index, item in enumerate(items)]
            _check_limits(data)
        # Our own names of fields are unknown to the wire.
        return model.model_validate(_make_storable(data, text), by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        path, problem = problem_path(first["loc"]), first["msg"]
    except ValueError as error:
        path, problem = WHOLE_RESPONSE, str(error)
    raise InvalidResponseError(problem, path=path, status_code=status_code, body=text[:BODY_HEAD])


def parse_json(text: str) -> Any:
    """Return the JSON value of a text that `decode_text` returned, with all its strings storable.

    Raises ValueError, with the reason, on text that is no JSON, numbers that are not finite,
    and nesting above `MAX_DEPTH`.
    """
    data, is_over_limits = _load(text)
    if is_over_limits:
        _check_limits(data)
    return _make_storable(data, text)


class _UnreadableNumber(str):
    """A number that is not finite or too long to show, as in the response."""

    __slots__ = ()


def _load(text: str) -> tuple[Any, bool]:
    """Return the JSON value of a text, and whether something in it is over the limits."""
    unreadable: list[str] = []

    def reject(digits: str) -> str:
        unreadable.append(digits)
        return _UnreadableNumber(digits)

    def parse_float(digits: str) -> float | str:
        number = float(digits)
        return number if math.isfinite(number) else reject(digits)

    def parse_int(digits: str) -> int | str:
        return int(digits) if len(digits) <= MAX_DIGITS else reject(digits)

    try:
        data = json.loads(
            text,
            strict=False,
            parse_constant=reject,
            parse_float=parse_float,
            parse_int=parse_int,
        )
    except json.JSONDecodeError:
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return data, bool(unreadable) or _is_too_deep(data)


def _is_too_deep(value: Any) -> bool:
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            break
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    return bool(level)


def _check_limits(data: Any) -> None:
    """Raise ValueError, with the reason, if a value is over the limits."""
    if found := next(_limit_problems(data), None):
        raise ValueError(found[1])


def _readable(item: Any, index: int) -> Any:
    """Return the item, or an UnreadableItem with its own texts and numbers."""
    found = next(_limit_problems(item, "items", index), None)
    if found is None:
        return item
    path, problem = found
    raw = (
        {name: value for name, value in item.items() if not isinstance(value, _CONTAINERS)}
        if isinstance(item, dict)
        else None
    )
    return UnreadableItem(index=index, path=problem_path(path), problem=problem, raw=raw)


def _limit_problems(value: Any, *path: int | str) -> Iterator[tuple[Path, str]]:
    """Yield the path of each value above the limits, and the reason."""
    if isinstance(value, _UnreadableNumber):
        yield path, f"{value[:20]} is an unreadable number"
    elif isinstance(value, _CONTAINERS) and len(path) >= MAX_DEPTH:
        yield path[:_PATH_OF_NEST], TOO_DEEP
    elif isinstance(value, _CONTAINERS):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _limit_problems(inner, *path, name)


def _make_storable(data: Any, text: str) -> Any:
    """Return the JSON value of a text with all its strings storable."""
    # Walking through every string costs as much as parsing; most responses need no change.
    return _cleaned(data) if _ESCAPED_UNSTORABLE.search(text) else data


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return strip_unstorable(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {strip_unstorable(key): _cleaned(item) for key, item in value.items()}
        case UnreadableItem():
            cleaned = {"path": strip_unstorable(value.path), "raw": _cleaned(value.raw)}
            return value.model_copy(update=cleaned)
        case _:
            return value
