"""Read a response: bytes to text, text to JSON, JSON to a model of the contract, which is cached.

A body is decompressed while it arrives, up to the limit. JSON that the dashboard can neither store
nor show (nesting, numbers) is set aside like any unreadable value.
"""

import json
import math
import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from threading import Lock
from typing import Any, Generic, TypeVar

import httpx

from dashboard.client.errors import InvalidResponseError
from dashboard.contract.resource import (
    Location,
    OverLimit,
    Resource,
    UnreadableResourceError,
    problem_path,
    read_resource,
)

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of a decompressed response. Source: our choice."""
MAX_ERROR_BODY_BYTES = 4 * 1024 * 1024
"""Maximum size of a response outside 2xx, which has a message and the rejected fields."""
BODY_HEAD = 2_000
"""Characters at the beginning of a body that are stored with an error."""
WHOLE_RESPONSE = problem_path(())
MAX_DEPTH = 100
"""Maximum levels of nesting. The code that shows the response is recursive, too."""
MAX_DIGITS = 308
"""Maximum digits of an integer. Longer ones exceed a float, and Python parses at most 4300."""
TOO_DEEP = "nested too deeply"

_ENCODINGS = {"", "identity", "gzip", "deflate"}
"""Accepted encodings, one at a time: nested compression multiplies the size twice."""
_CONTAINERS = (dict, list)
"""A constant for speed: writing the union inline takes as long as the thousand checks."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
"""Escapes of unstorable characters that may remain in a text returned by `decode_text`."""

ModelT = TypeVar("ModelT", bound=Resource)
KeyT = TypeVar("KeyT", bound=Hashable)
InputT = TypeVar("InputT")
ValueT = TypeVar("ValueT")


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
        problem = "it can’t be decompressed"
    # Raised outside the handler: httpx's exception holds the request, which holds the API key.
    raise InvalidResponseError(problem, path=WHOLE_RESPONSE, status_code=response.status_code)


def read_error_body(response: httpx.Response) -> bytes:
    """Return the part of a body that arrives; the status counts even if the rest is lost."""
    body = bytearray()
    with suppress(httpx.TransportError, httpx.DecodingError):
        for chunk in _chunks(response, MAX_ERROR_BODY_BYTES):
            body += chunk
    return bytes(body)


def _chunks(response: httpx.Response, max_bytes: int) -> Iterator[bytes]:
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
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def parse_response(body: bytes, *, status_code: int, model: type[ModelT]) -> ModelT:
    """Return the response as a `model`; unreadable parts are in its `unreadable`.

    Raises InvalidResponseError, naming the path, if the body isn't JSON, or if a part that can't be
    spared is missing or unreadable.
    """
    text = decode_text(body)
    try:
        data, over_limits = _load(text)
        return read_resource(model, data, over_limits=over_limits)
    except UnreadableResourceError as error:
        path, problem = error.path, str(error)
    except ValueError as error:
        path, problem = WHOLE_RESPONSE, str(error)
    raise InvalidResponseError(problem, path=path, status_code=status_code, body=text[:BODY_HEAD])


def parse_json(text: str) -> Any:
    """Return the JSON value of a text from `decode_text`; all its strings can be stored.

    Raises ValueError with the reason if the text isn't JSON, a number is out of range, or values
    are nested deeper than `MAX_DEPTH` levels.
    """
    data, over_limits = _load(text)
    for problem in over_limits.values():
        raise ValueError(problem)
    return data


def _load(text: str) -> tuple[Any, dict[Location, str]]:
    """Return the value like `parse_json`, and the problem of each OverLimit by its location."""
    has_numbers = False

    def replace_number(digits: str) -> OverLimit:
        nonlocal has_numbers
        has_numbers = True
        return OverLimit(digits, f"{digits[:20]} is an unreadable number")

    def parse_float(digits: str) -> float | OverLimit:
        number = float(digits)
        return number if math.isfinite(number) else replace_number(digits)

    def parse_int(digits: str) -> int | OverLimit:
        return int(digits) if len(digits) <= MAX_DIGITS else replace_number(digits)

    try:
        data = json.loads(
            text,
            strict=False,
            parse_constant=replace_number,
            parse_float=parse_float,
            parse_int=parse_int,
        )
    except json.JSONDecodeError:
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    is_over = _replace_deep_values(data) or has_numbers
    # Walking through every string costs as much as parsing; most responses need no change.
    if _ESCAPED_UNSTORABLE.search(text):
        data = _cleaned(data)
    return data, dict(_over_limits(data)) if is_over else {}


def _replace_deep_values(data: Any) -> bool:
    """Replace values that are nested too deeply by an OverLimit; return whether there were any."""
    level = [data] if isinstance(data, _CONTAINERS) else []
    for _ in range(MAX_DEPTH - 1):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    is_deep = False
    for outer in level:
        for key, inner in list(outer.items() if isinstance(outer, dict) else enumerate(outer)):
            if isinstance(inner, _CONTAINERS):
                outer[key] = OverLimit("…", TOO_DEEP)
                is_deep = True
    return is_deep


def _over_limits(value: Any, *location: int | str) -> Iterator[tuple[Location, str]]:
    if isinstance(value, OverLimit):
        yield location, value.problem
    elif isinstance(value, _CONTAINERS):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _over_limits(inner, *location, key)


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return strip_unstorable(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {strip_unstorable(key): _cleaned(item) for key, item in value.items()}
        case _:
            return value


class ByteBoundedCache(Generic[KeyT, InputT, ValueT]):
    """Cache of the value computed from each key's last input, up to a size. Thread-safe.

    An input is compared with the previous one by equality: hashing a long text is slower.
    """

    def __init__(self, max_bytes: int, *, size_of: Callable[[InputT, ValueT], int]) -> None:
        """`size_of` estimates the bytes of an entry; above `max_bytes` the oldest are evicted."""
        self._max_bytes = max_bytes
        self._size_of = size_of
        self._entries: dict[KeyT, tuple[InputT, ValueT, int]] = {}
        self._bytes = 0
        self._lock = Lock()

    @property
    def size_bytes(self) -> int:
        return self._bytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get_or_compute(
        self, key: KeyT, source: InputT, compute: Callable[[InputT], ValueT]
    ) -> ValueT:
        """Return `compute(source)`, the same object as long as this key's source is equal."""
        entry = self._entries.get(key)
        if entry is not None and entry[0] == source:
            return entry[1]
        value = compute(source)
        size = self._size_of(source, value)
        with self._lock:
            self._drop(key)
            if size <= self._max_bytes:
                self._entries[key] = (source, value, size)
                self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))
        return value

    def _drop(self, key: KeyT) -> None:
        if entry := self._entries.pop(key, None):
            self._bytes -= entry[2]
