"""The body of an answer: unpacked while it arrives, and never more of it than we bear."""

from collections.abc import Iterator
from contextlib import suppress

import httpx

from dashboard.client.errors import BadAnswerError
from dashboard.client.reading import WHOLE_ANSWER

MAX_BODY = 32 * 1024 * 1024
"""Bytes of an answer once decompressed. Source: our choice (DESIGN.md)."""
MAX_REFUSAL = 4 * 1024 * 1024
"""Bytes read of an answer outside 2xx: a sentence, and each field that was not accepted."""

_ENCODINGS = {"", "identity", "gzip", "deflate"}
"""What we ask for, one at a time: a pack in a pack grows a thousandfold twice."""


def whole_body(response: httpx.Response) -> bytes:
    """Return the decompressed body.

    Raises BadAnswerError above 32 MiB, and where it can't be unpacked.
    """
    problem = f"larger than {MAX_BODY // 1024 // 1024} MiB"
    try:
        body = b"".join(_pieces(response, MAX_BODY))
        if len(body) <= MAX_BODY:
            return body
    except httpx.DecodingError:
        problem = "its compression can't be undone"
    raise BadAnswerError(problem, path=WHOLE_ANSWER, status_code=response.status_code)


def head_of_body(response: httpx.Response) -> bytes:
    """Return what can be had of a body: the status has been said, whatever becomes of the rest."""
    body = bytearray()
    with suppress(httpx.TransportError, httpx.DecodingError):
        for piece in _pieces(response, MAX_REFUSAL):
            body += piece
    return bytes(body)


def _pieces(response: httpx.Response, limit: int) -> Iterator[bytes]:
    """Yield the decompressed body, or what was read when it had grown above `limit`."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise httpx.DecodingError("an encoding that was not asked for")
    size = 0
    for piece in response.iter_bytes():
        yield piece
        size += len(piece)
        if size > limit:
            break
