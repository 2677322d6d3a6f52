"""Report each call once: to a listener, and in the log."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboard.client.calls import Call
from dashboard.client.errors import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoResponseError,
    StatusError,
)
from dashboard.contract.wire import WireModel

_logger = logging.getLogger("dashboard.client")
_NO_RESPONSE = "%(method)s %(path)s no response %(upstream_ms).0f ms: %(error)s"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallReport:
    """The result of a call, including its retries.

    `operation` is the spec's name for it ("List pages"); `path` is as sent, without the query,
    which may contain a person's name. `started_at` is in UTC. `status_code` is None if no response
    was received; `attempts` counts from 1.
    """

    operation: str
    method: str
    path: str
    started_at: datetime
    duration_ms: float
    status_code: int | None
    error: APIError | None
    attempts: int
    response: WireModel | None = None
    """The response, if it could be parsed. Never store it: it may contain personal data."""


class CallInProgress:
    """A call in progress. The session updates `attempts`, `status_code` and `response`."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.attempts = 0
        self.status_code: int | None = None
        self.response: WireModel | None = None
        self._started_at = datetime.now(UTC)
        self._start = time.monotonic()

    def report(self, error: APIError | None = None) -> CallReport:
        """Return the report of the call as of now."""
        if isinstance(error, StatusError | InvalidResponseError):
            self.status_code = error.status_code
        return CallReport(
            operation=self.call.operation,
            method=self.call.method,
            path=self.call.path,
            started_at=self._started_at,
            duration_ms=(time.monotonic() - self._start) * 1000,
            status_code=self.status_code,
            error=error,
            attempts=self.attempts,
            response=self.response,
        )


class Reporter:
    """Reports each call once, after its last attempt."""

    def __init__(self, on_call: Callable[[CallReport], None] | None) -> None:
        self._on_call = on_call

    @contextmanager
    def reporting(self, call: Call) -> Iterator[CallInProgress]:
        """Report the call at the end of the block, in a response or in an APIError."""
        in_progress = CallInProgress(call)
        try:
            yield in_progress
        except APIError as error:
            self._report(in_progress.report(error))
            raise
        self._report(in_progress.report())

    def _report(self, report: CallReport) -> None:
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
        if self._on_call is None:
            return
        try:
            self._on_call(report)
        except Exception:
            _logger.exception("The call listener failed on %s", report.operation)
