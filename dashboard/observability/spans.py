"""Spans of requests and their calls, and their export to the collector.

Imported on the first request of a process, and only if the environment names a collector: the
import starts the exporter's thread, which would not survive a fork. The SDK reads its own variables
(endpoint, headers, sampling, batches).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Thread
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from dashboard.client import APIError, Call, CallReport, StatusError
from dashboard.observability.metrics import call_outcome
from dashboard.observability.request_context import RequestNotes

STOP_S = 5
"""Time limit of the last export at a shutdown; the SDK would wait for 30 s."""
METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
OTHER = "_OTHER"
"""Any other method. Source: OpenTelemetry's semantic conventions."""
PORTS = {"http": 80, "https": 443}

_resource = Resource.create(
    {
        "service.name": "pressroom",
        "deployment.environment.name": settings.ENVIRONMENT_NAME,
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
        **OTELResourceDetector().detect().attributes,
    }
)
_provider = TracerProvider(resource=_resource)
_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
_tracer = _provider.get_tracer("pressroom")
_traceparent = TraceContextTextMapPropagator()


@dataclass
class SpanClosingStream:
    """The content of a streaming response; closing it ends the span."""

    pieces: Iterable[bytes]
    span: Span

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces."""
        return iter(self.pieces)

    def close(self) -> None:
        """End the span: called when the response is sent, or the client has disconnected."""
        self.span.end()


def start_request(request: HttpRequest) -> Span:
    """Start the span of a request, as a child of the caller's span."""
    parent = _traceparent.extract(request.headers, context=Context())
    return _tracer.start_span(_method(request), context=parent, kind=SpanKind.SERVER)


def describe_request(
    span: Span, request: HttpRequest, notes: RequestNotes, *, view: str, path: str, status: int
) -> None:
    """Set the attributes of a request's span: the same facts as in the log."""
    method = _method(request)
    route = f"/{request.resolver_match.route}" if request.resolver_match else ""
    attributes: dict[str, str | int] = {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
        "url.path": path,
        "url.scheme": request.scheme or "",
        "user.name": notes.person,
        "pressroom.operation_key": notes.operation_key,
        "pressroom.request_id": notes.request_id,
        "pressroom.view": view,
    }
    span.update_name(f"{'HTTP' if method == OTHER else method} {route}".rstrip())
    span.set_attributes({name: value for name, value in attributes.items() if value})
    if status >= 500:
        _fail(span, str(status))


def start_call(call: Call, *, within: Span) -> Span:
    """Start the span of a call of the service, its retries included."""
    service = urlsplit(settings.SERVICE_URL or "")
    attributes: dict[str, str | int] = {
        "http.request.method": call.method,
        "url.path": call.path,
        "pressroom.operation": call.operation,
    }
    if service.hostname:
        attributes["server.address"] = service.hostname
        attributes["server.port"] = service.port or PORTS[service.scheme]
    return _tracer.start_span(
        call.operation,
        context=set_span_in_context(within, Context()),
        kind=SpanKind.CLIENT,
        attributes=attributes,
    )


def describe_call(span: Span, report: CallReport) -> None:
    """Set the attributes of a call's span."""
    span.set_attribute("pressroom.outcome", call_outcome(report.error))
    span.set_attribute("pressroom.attempts", report.attempts)
    if report.status_code is not None:
        span.set_attribute("http.response.status_code", report.status_code)
    if report.error:
        _fail(span, _kind(report.error))


def trace_headers(span: Span) -> dict[str, str]:
    """Return the headers that make the service's spans children of this one."""
    headers: dict[str, str] = {}
    _traceparent.inject(headers, context=set_span_in_context(span, Context()))
    return headers


def flush() -> None:
    """Export the remaining spans, for at most STOP_S; later spans are dropped."""
    sending = Thread(target=_provider.shutdown, daemon=True)
    sending.start()
    sending.join(STOP_S)


def _method(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else OTHER


def _kind(error: APIError) -> str:
    return str(error.status_code) if isinstance(error, StatusError) else type(error).__name__


def _fail(span: Span, kind: str) -> None:
    # Without the message: it may quote data.
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)
