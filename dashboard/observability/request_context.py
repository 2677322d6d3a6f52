"""Facts about the current request, for the log, the service and error pages."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from django.db import Error

from dashboard.client import CallReport
from dashboard.work.tasks import close_lost_connections

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from dashboard.ledger.deviations import ContractDeviation
    from dashboard.ledger.models import Operation

T = TypeVar("T")

REQUEST_ID_HEADER = "X-Request-ID"
"""Header sent to the service and to the browser; the spec has none. Source: our choice."""


class CallRecord(NamedTuple):
    started_at: datetime
    duration_ms: float
    state: str
    reason: str = ""
    """Why the call failed, as a sentence; "" if it did not."""


@dataclass
class RequestNotes:
    request_id: str
    person: str = ""
    """The username; empty if no user is logged in."""
    machine: str = ""
    """The token and the program that act for the user; empty if the user acts directly."""
    operation_key: str = ""
    sent: "Operation | None" = None
    """The operation that this request has sent, until its outcome is recorded."""
    span: "Span | None" = None
    """None unless the request is traced."""
    calls: list[CallRecord] = field(default_factory=list)
    """Calls of this request. Concurrent threads append to the list, which needs no lock."""
    unwritten: list[CallRecord] = field(default_factory=list)
    """Calls that are not yet counted in the service's health."""
    differences: "list[ContractDeviation]" = field(default_factory=list)
    """Deviations of the responses from the specification."""
    failed: CallReport | None = None
    """The last call that failed."""
    is_unrecorded: bool = False
    """Whether the ledger failed to record a response."""

    @property
    def upstream_ms(self) -> float:
        """Time spent waiting for the service; overlapping calls count once."""
        waited_ms, until_ms = 0.0, 0.0
        for call in sorted(self.calls):
            start_ms = call.started_at.timestamp() * 1000
            end_ms = start_ms + call.duration_ms
            waited_ms += max(0.0, end_ms - max(start_ms, until_ms))
            until_ms = max(until_ms, end_ms)
        return waited_ms


_current: ContextVar[RequestNotes | None] = ContextVar("request_notes", default=None)
current_notes = _current.get
"""Returns the notes of this thread's request; None outside a request."""


def current_request_id() -> str:
    notes = current_notes()
    return notes.request_id if notes else ""


@contextmanager
def request_context(notes: RequestNotes | None) -> Iterator[None]:
    """Make `notes` the current ones of this thread within the block."""
    token = _current.set(notes)
    try:
        yield
    finally:
        _current.reset(token)


def bind_request_context(call: Callable[[], T]) -> Callable[[], T]:
    """Return a function that makes the call in this request's context, from any thread."""
    notes = current_notes()

    def bound() -> T:
        with request_context(notes):
            return call()

    return bound


def stream_in_context(pieces: Iterable[bytes], notes: RequestNotes) -> Iterator[bytes]:
    """Yield the content of a streaming response; produce each piece in its request's context."""
    iterator = iter(pieces)
    while True:
        with request_context(notes):
            try:
                piece = next(iterator)
            except StopIteration:
                return
        yield piece


def set_unsettled_operation(operation: "Operation | None") -> None:
    if notes := current_notes():
        notes.sent = operation
        if operation:
            notes.operation_key = operation.operation_key


_logger = logging.getLogger("dashboard.ledger")


@contextmanager
def tolerate_write_errors() -> Iterator[None]:
    """Log a database error instead of raising it, so that the service's response is still shown.

    Outside a request, where no page can report the error, it is raised.
    """
    try:
        yield
    except Error:
        notes = current_notes()
        if notes is None:
            raise
        _logger.exception("The response could not be recorded")
        close_lost_connections()
        notes.is_unrecorded = True


def is_unrecorded() -> bool:
    notes = current_notes()
    return bool(notes and notes.is_unrecorded)
