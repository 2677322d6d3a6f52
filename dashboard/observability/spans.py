"""Spans of requests and their calls, and their export to the collector.

Imported on the first request of a process, and only if the environment names a collector: the
import starts the exporter's thread, which would not survive a fork. The SDK reads its own variables
(endpoint, headers, sampling, batches).
"""

from threading import Thread
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from dashboard.client import Call

STOP_S = 5
"""Time limit of the last export at a shutdown; the SDK would wait for 30 s."""
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


def start_request(request: HttpRequest) -> Span:
    """Start the span of a request, as a child of the caller's span."""
    parent = _traceparent.extract(request.headers, context=Context())
    return _tracer.start_span("HTTP", context=parent, kind=SpanKind.SERVER)


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
