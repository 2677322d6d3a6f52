"""One call of the service: the operation, its path and its arguments; and the report of it."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from dashboard.client.errors import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoResponseError,
    StatusError,
)
from dashboard.contract.wire import WireModel

PREFIX = "/v0"
"""Every path of the spec begins with it (Versioning)."""

_DOT_SEGMENTS = {".": "%2E", "..": "%2E%2E"}
_logger = logging.getLogger("dashboard.client")
_NO_RESPONSE = "%(method)s %(path)s no response %(upstream_ms).0f ms: %(error)s"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One of the nine operations, with its arguments. `params` that are None are not sent."""

    operation: str
    path: str
    method: Literal["GET", "POST", "PATCH"] = "GET"
    params: dict[str, str | int | None] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the call is a GET, or the empty PATCH that reads a subscription."""
        return self.method == "GET" or (self.method == "PATCH" and not self.body)


def path(*segments: str) -> str:
    """Return the path of these segments, each fully percent-encoded.

    Identifiers may be any text (spec), so `/`, `?`, `#`, `%` and `..` must arrive as they are.
    """
    url = PREFIX
    for segment in segments:
        # quote() leaves dots, and httpx resolves a segment of dots alone as a step in a directory.
        encoded = _DOT_SEGMENTS.get(segment) or quote(segment, safe="", errors="surrogatepass")
        url = f"{url}/{encoded}"
    return url


@dataclass(kw_only=True, slots=True)
class CallReport:
    """A call, including its retries; its result, once the call has ended.

    `operation` is the spec's name for it ("List pages"); `path` is as sent, without the query,
    which may contain a person's name. `started_at` is in UTC. `status_code` is None if no response
    was received; `attempts` counts from 1.
    """

    operation: str
    method: str
    path: str
    started_at: datetime
    duration_ms: float = 0.0
    status_code: int | None = None
    error: APIError | None = None
    attempts: int = 0
    clock_ahead_s: float | None = None
    """How far the service's clock is ahead of ours; None if the response has no readable date."""
    response: WireModel | None = None
    """The response, if it could be parsed. Never store it: it may contain personal data."""


@contextmanager
def reporting(call: Call, on_call: Callable[[CallReport], None] | None) -> Iterator[CallReport]:
    """Report the call once, at the end of the block: in a response, or in an APIError.

    The block sets `attempts`, `status_code` and `response`.
    """
    report = CallReport(
        operation=call.operation, method=call.method, path=call.path, started_at=datetime.now(UTC)
    )
    start = time.monotonic()
    try:
        yield report
    except APIError as error:
        # A copy: this frame, which the error's traceback refers to, must not refer to the error.
        _report(replace(report, error=error), start, on_call)
        raise
    _report(report, start, on_call)


def _report(report: CallReport, start: float, on_call: Callable[[CallReport], None] | None) -> None:
    report.duration_ms = (time.monotonic() - start) * 1000
    if isinstance(report.error, StatusError | InvalidResponseError):
        report.status_code = report.error.status_code
    # Paths are percent-encoded, so no line break can forge a log line.
    facts: dict[str, object] = {
        "operation": report.operation,
        "method": report.method,
        "path": report.path,
        "status": report.status_code,
        "upstream_ms": round(report.duration_ms, 1),
        "attempts": report.attempts,
    }
    level, line = logging.INFO, "%(method)s %(path)s %(status)s %(upstream_ms).0f ms"
    if isinstance(report.error, NoResponseError):
        # The message is our own; messages of the service are not logged.
        facts["error"] = str(report.error)
        level, line = logging.WARNING, _NO_RESPONSE
    elif isinstance(report.error, AuthenticationError):
        level, line = logging.WARNING, f"{line}: the service rejected our key"
    _logger.log(level, line, facts, extra={"facts": facts})
    if on_call is None:
        return
    try:
        on_call(report)
    except Exception:
        _logger.exception("The call listener failed on %s", report.operation)
