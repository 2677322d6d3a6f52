"""What is noted of the request under way: for log lines, for the service and for error pages."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from dashboard.client import CallReport
from dashboard.ledger.sightings import Sighting

if TYPE_CHECKING:
    from opentelemetry.trace import Span

T = TypeVar("T")

REQUEST_ID_HEADER = "X-Request-ID"
"""Carries the id to the service and to the browser. The spec names no such header and forbids
none: our choice, after what proxies commonly use."""

_READABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass
class RequestNotes:
    """One request: who asked, for which operation, and how long the service was waited for."""

    request_id: str
    person: str = ""
    """The account's name; empty where nobody is logged in."""
    operation_key: str = ""
    span: "Span | None" = None
    """Where traces are collected."""
    calls: int = 0
    upstream_ms: float = 0.0
    """The time of all calls together; those side by side count each."""
    differences: list[Sighting] = field(default_factory=list)
    """How the answers differed from the specification."""
    failed: CallReport | None = None
    """The last call that brought no usable answer."""


_current: ContextVar[RequestNotes | None] = ContextVar("request_notes", default=None)


def current_notes() -> RequestNotes | None:
    """Return the notes of the request that this thread answers; None outside of any."""
    return _current.get()


def current_request_id() -> str:
    """Return the id of the request that this thread answers; nothing outside of any."""
    notes = _current.get()
    return notes.request_id if notes else ""


@contextmanager
def noting(notes: RequestNotes | None) -> Iterator[None]:
    """Let what this thread does in the block belong to that request."""
    token = _current.set(notes)
    try:
        yield
    finally:
        _current.reset(token)


def in_this_request(call: Callable[[], T]) -> Callable[[], T]:
    """Return the call as one of this request, whichever thread makes it."""
    notes = _current.get()

    def noted() -> T:
        with noting(notes):
            return call()

    return noted


def noted_pieces(pieces: Iterable[bytes], notes: RequestNotes) -> Iterator[bytes]:
    """Yield what is made piece by piece after the view has returned, as part of its request."""
    making = iter(pieces)
    while True:
        with noting(notes):
            try:
                piece = next(making)
            except StopIteration:
                return
        yield piece


def note_person(name: str) -> None:
    """Note whose request this is."""
    if notes := _current.get():
        notes.person = name


def note_operation(operation_key: str) -> None:
    """Note that this request carries out an operation."""
    if notes := _current.get():
        notes.operation_key = operation_key


def headers_of_this_request() -> dict[str, str]:
    """Return what tells the service on whose behalf it is called; nothing outside a request."""
    request_id = current_request_id()
    return {REQUEST_ID_HEADER: request_id} if request_id else {}


def request_id_from(sent: str | None) -> str:
    """Return the id that a trusted header brought; a new one where it brought none to be used."""
    return sent if sent and _READABLE_ID.fullmatch(sent) else secrets.token_hex(8)
