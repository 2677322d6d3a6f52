"""Traces, if the environment names an OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT).

OpenTelemetry's packages for Django and httpx are not used: they patch both, put whole URLs with
search words into spans, and make a span of each retry. `spans` is imported late: without a
collector, tracing costs nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from dashboard.client import Call, CallReport
from dashboard.observability.request_context import RequestNotes, current_notes

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_call_span: ContextVar["Span | None"] = ContextVar("span_of_call", default=None)


def start_request_span(request: HttpRequest, notes: RequestNotes) -> None:
    """Start the span of a request; the notes carry it into other threads."""
    if settings.TRACES:
        from dashboard.observability import spans

        notes.span = spans.start_request(request)


def describe_request_span(
    request: HttpRequest, notes: RequestNotes, *, view: str, path: str, status: int
) -> None:
    """Set the attributes of a request's span from its response."""
    if notes.span:
        from dashboard.observability import spans

        spans.describe_request(notes.span, request, notes, view=view, path=path, status=status)


def end_request_span(response: HttpResponse, notes: RequestNotes) -> None:
    """End a request's span: now, or when a streaming response is sent."""
    if not notes.span:
        return
    if not response.streaming:
        notes.span.end()
        return
    from dashboard.observability import spans

    rest = cast("StreamingHttpResponse", response)
    rest.streaming_content = spans.SpanClosingStream(
        cast("Iterator[bytes]", rest.streaming_content), notes.span
    )


def drop_request_span(notes: RequestNotes) -> None:
    """Do not export the span of a request: one that never ends is never exported."""
    notes.span = None


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
    if span := _call_span.get():
        from dashboard.observability import spans

        spans.describe_call(span, report)


def trace_headers() -> dict[str, str]:
    """Return the headers that make the service's spans children of the call's span."""
    span = _call_span.get()
    if not span:
        return {}
    from dashboard.observability import spans

    return spans.trace_headers(span)


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
