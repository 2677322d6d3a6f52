"""Traces, if the environment names an OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT).

OpenTelemetry's packages for Django and httpx are not used: they patch both, put whole URLs with
search words into spans, and make a span of each retry. `spans` is imported late: without a
collector, tracing costs nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest

from dashboard.client import Call, CallReport, StatusError
from dashboard.observability.metrics import call_outcome
from dashboard.observability.request_context import (
    REQUEST_ID_HEADER,
    RequestNotes,
    current_notes,
)

if TYPE_CHECKING:
    from opentelemetry.trace import Span

METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
"""Any other method is _OTHER. Source: OpenTelemetry's semantic conventions."""

_call_span: ContextVar["Span | None"] = ContextVar("span_of_call", default=None)


def start_request_span(request: HttpRequest, notes: RequestNotes) -> None:
    """Start the span of a request; the notes carry it into other threads."""
    if settings.TRACES:
        from dashboard.observability import spans

        notes.span = spans.start_request(request)


def describe_request_span(
    request: HttpRequest, notes: RequestNotes, *, view: str, path: str, status: int
) -> None:
    """Set the attributes of a request's span from its response: the same facts as in the log."""
    if not notes.span:
        return
    method = request.method if request.method in METHODS else None
    route = f"/{request.resolver_match.route}" if request.resolver_match else ""
    attributes: dict[str, str | int] = {
        "http.request.method": method or "_OTHER",
        "http.route": route,
        "http.response.status_code": status,
        "url.path": path,
        "url.scheme": request.scheme or "",
        "user.name": notes.person,
        "pressroom.operation_key": notes.operation_key,
        "pressroom.request_id": notes.request_id,
        "pressroom.view": view,
    }
    notes.span.update_name(f"{method or 'HTTP'} {route}".rstrip())
    notes.span.set_attributes({name: value for name, value in attributes.items() if value})
    if status >= 500:
        _fail(notes.span, str(status))


@contextmanager
def call_span(call: Call) -> Iterator[None]:
    """Start a span for a call, if its request has one."""
    notes = current_notes()
    if not notes or not notes.span:
        yield
        return
    from dashboard.observability import spans

    span = spans.start_call(call, within=notes.span)
    token = _call_span.set(span)
    try:
        yield
    finally:
        _call_span.reset(token)
        span.end()


def describe_call_span(report: CallReport) -> None:
    """Set the attributes of a call's span from its report."""
    if not (span := _call_span.get()):
        return
    span.set_attribute("pressroom.outcome", call_outcome(report.error))
    span.set_attribute("pressroom.attempts", report.attempts)
    if report.status_code is not None:
        span.set_attribute("http.response.status_code", report.status_code)
    if isinstance(report.error, StatusError):
        _fail(span, str(report.error.status_code))
    elif report.error:
        _fail(span, type(report.error).__name__)


def _fail(span: "Span", kind: str) -> None:
    from opentelemetry.trace import StatusCode

    # Without the message: it may quote data.
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def correlation_headers() -> dict[str, str]:
    """Return the headers by which the service's logs and spans refer to this request and call."""
    notes, span = current_notes(), _call_span.get()
    headers = {REQUEST_ID_HEADER: notes.request_id} if notes else {}
    if span:
        from dashboard.observability import spans

        headers |= spans.trace_headers(span)
    return headers


def trace_ids(notes: RequestNotes) -> dict[str, str]:
    """Return the ids of this thread's span, for a log line."""
    span = _call_span.get() or notes.span
    if not span:
        return {}
    context = span.get_span_context()
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def flush_spans() -> None:
    """Export the remaining spans before the process ends."""
    if settings.TRACES:
        from dashboard.observability import spans

        spans.flush()
