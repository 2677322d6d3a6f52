"""The spans of a request and of its calls, and how they leave for the collector.

Loaded with a process' first request, and only where the environment names a collector: loading
starts the thread that sends, which would not live through a fork. The SDK reads its own variables:
where to send and with which headers, what to sample, how much to gather before it sends.
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
from dashboard.web.metrics import call_outcome
from dashboard.web.request_notes import RequestNotes

STOP_S = 5
"""How long a stop waits for a collector that is away; the SDK would wait for half a minute."""
METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
OTHER = "_OTHER"
"""Stands for any other word sent as a method. Source: OpenTelemetry's semantic conventions."""
PORTS = {"http": 80, "https": 443}

_resource = Resource.create(
    {
        "service.name": "pressroom",
        "deployment.environment.name": settings.ENVIRONMENT_NAME,
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES: what they say counts more.
        **OTELResourceDetector().detect().attributes,
    }
)
_provider = TracerProvider(resource=_resource)
_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
_tracer = _provider.get_tracer("pressroom")
_traceparent = TraceContextTextMapPropagator()


@dataclass
class Ending:
    """The pieces of an answer that is still being sent; its span ends with them, or without."""

    pieces: Iterable[bytes]
    span: Span

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces."""
        return iter(self.pieces)

    def close(self) -> None:
        """End the span: called when the answer is sent, or nobody is there to hear it."""
        self.span.end()


def of_request(request: HttpRequest) -> Span:
    """Return the span of a request, begun now: a child of whatever asked."""
    asked_by = _traceparent.extract(request.headers, context=Context())
    return _tracer.start_span(_method(request), context=asked_by, kind=SpanKind.SERVER)


def tell_request(
    span: Span, request: HttpRequest, notes: RequestNotes, *, view: str, path: str, status: int
) -> None:
    """Write down how a request was answered: what the log has of it, and no more."""
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


def of_call(call: Call, *, within: Span) -> Span:
    """Return the span of a call of the service, its retries included, begun now."""
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


def tell_call(span: Span, report: CallReport) -> None:
    """Write down how the call went."""
    span.set_attribute("pressroom.outcome", call_outcome(report.error))
    span.set_attribute("pressroom.attempts", report.attempts)
    if report.status_code is not None:
        span.set_attribute("http.response.status_code", report.status_code)
    if report.error:
        _fail(span, _kind(report.error))


def headers_of(span: Span) -> dict[str, str]:
    """Return what tells the service that it is called as a part of this."""
    headers: dict[str, str] = {}
    _traceparent.inject(headers, context=set_span_in_context(span, Context()))
    return headers


def finish() -> None:
    """Send what was gathered, for at most STOP_S; no span is taken from now on."""
    sending = Thread(target=_provider.shutdown, daemon=True)
    sending.start()
    sending.join(STOP_S)


def _method(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else OTHER


def _kind(error: APIError) -> str:
    return str(error.status_code) if isinstance(error, StatusError) else type(error).__name__


def _fail(span: Span, kind: str) -> None:
    # By its kind alone: what an error says may quote what was read.
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)
