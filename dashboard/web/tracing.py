"""Traces, where the environment names an OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT).

Spans are made here, and not by OpenTelemetry's packages for Django and httpx: those patch both from
without, put whole addresses into spans, with the words that somebody searched for, and take a call
that was tried three times for three. What makes spans is imported late: where nobody collects them
they cost nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from dashboard.client import Call, CallReport
from dashboard.web.request_notes import RequestNotes, current_notes

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_of_call: ContextVar["Span | None"] = ContextVar("span_of_call", default=None)


def begin_span(request: HttpRequest, notes: RequestNotes) -> None:
    """Begin the span of a request; its notes carry it into every thread that works for it."""
    if settings.TRACES:
        from dashboard.web import spans

        notes.span = spans.of_request(request)


def tell_span(
    request: HttpRequest, notes: RequestNotes, *, view: str, path: str, status: int
) -> None:
    """Write down in a request's span how it was answered."""
    if notes.span:
        from dashboard.web import spans

        spans.tell_request(notes.span, request, notes, view=view, path=path, status=status)


def end_span(response: HttpResponse, notes: RequestNotes) -> None:
    """End a request's span: now, or once an answer is sent that is made piece by piece."""
    if not notes.span:
        return
    if not response.streaming:
        notes.span.end()
        return
    from dashboard.web import spans

    rest = cast("StreamingHttpResponse", response)
    rest.streaming_content = spans.Ending(
        cast("Iterator[bytes]", rest.streaming_content), notes.span
    )


def forget_span(notes: RequestNotes) -> None:
    """Let nobody hear of a request: a span that never ends is never sent."""
    notes.span = None


@contextmanager
def traced(call: Call) -> Iterator[None]:
    """Give a call a span, where it is made for a request that has one."""
    notes = current_notes()
    if not notes or not notes.span:
        yield
        return
    from dashboard.web import spans

    span = spans.of_call(call, within=notes.span)
    token = _of_call.set(span)
    try:
        yield
    finally:
        _of_call.reset(token)
        span.end()


def tell_call(report: CallReport) -> None:
    """Write down in a call's span how it went."""
    if span := _of_call.get():
        from dashboard.web import spans

        spans.tell_call(span, report)


def trace_headers() -> dict[str, str]:
    """Return what tells the service of which call's span its own are children."""
    span = _of_call.get()
    if not span:
        return {}
    from dashboard.web import spans

    return spans.headers_of(span)


def trace_ids(notes: RequestNotes) -> dict[str, str]:
    """Return, for a line in the log, the ids of the span that this thread works for."""
    span = _of_call.get() or notes.span
    if not span:
        return {}
    context = span.get_span_context()
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def send_the_rest() -> None:
    """Send the spans that a process which ends still has."""
    if settings.TRACES:
        from dashboard.web import spans

        spans.finish()
