"""What is told of a call: a report to whom it concerns, and a line in the log."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboard.client.calls import Call
from dashboard.client.errors import APIError, BadAnswerError, NoAnswerError, StatusError
from dashboard.contract.wire import WireModel

_logger = logging.getLogger("dashboard.client")
_NO_ANSWER = "%(method)s %(path)s no answer %(upstream_ms).0f ms: %(error)s"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallReport:
    """How a call went, its retries included.

    `operation` is the spec's name for it ("List pages"), `path` is as sent, without the query:
    a search for a person's name is nobody else's business. `started_at` is in UTC. `status_code`
    is None where nobody answered; `attempts` counts from 1.
    """

    operation: str
    method: str
    path: str
    started_at: datetime
    duration_ms: float
    status_code: int | None
    error: APIError | None
    attempts: int
    answer: WireModel | None = None
    """What came, where it could be read. It may be other people's data: never to be kept."""


class Trip:
    """A call under way. What sends it counts `attempts` and notes the `status_code`."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.attempts = 0
        self.status_code: int | None = None
        self.answer: WireModel | None = None
        self._started_at = datetime.now(UTC)
        self._start = time.monotonic()

    def report(self, error: APIError | None = None) -> CallReport:
        """Return the report of the call as of now."""
        if isinstance(error, StatusError | BadAnswerError):
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
            answer=self.answer,
        )


class Reporter:
    """Tells of each call once, after its last attempt."""

    def __init__(self, on_call: Callable[[CallReport], None] | None) -> None:
        self._on_call = on_call

    @contextmanager
    def reported(self, call: Call) -> Iterator[Trip]:
        """Tell of the call when the block has ended, in an answer or in an error of the tree."""
        trip = Trip(call)
        try:
            yield trip
        except APIError as error:
            self._tell(trip.report(error))
            raise
        self._tell(trip.report())

    def _tell(self, report: CallReport) -> None:
        # A path holds only what percent-encoding leaves, so no line break can forge a log line.
        facts: dict[str, object] = {
            "operation": report.operation,
            "method": report.method,
            "path": report.path,
            "status": report.status_code,
            "upstream_ms": round(report.duration_ms, 1),
            "attempts": report.attempts,
        }
        level, line = logging.INFO, "%(method)s %(path)s %(status)s %(upstream_ms).0f ms"
        if isinstance(report.error, NoAnswerError):
            # Its words are our own: what an answer says is not for the log.
            facts["error"] = str(report.error)
            level, line = logging.WARNING, _NO_ANSWER
        _logger.log(level, line, facts, extra={"facts": facts})
        if self._on_call is None:
            return
        try:
            self._on_call(report)
        except Exception:
            _logger.exception("What listens to calls failed on %s", report.operation)
