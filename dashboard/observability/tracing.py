"""Traces, if the environment names an OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT).

OpenTelemetry's WSGI package makes a span for each request. Its httpx package is not used: it makes
a span for each attempt, and records the messages of exceptions, which may quote data.
All packages are imported late, so that tracing costs nothing without a collector.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from dashboard.client import Call, CallReport, StatusError
from dashboard.observability.metrics import call_outcome
from dashboard.observability.request_context import REQUEST_ID_HEADER, RequestNotes, current_notes

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from opentelemetry.trace import Span

STOP_S = 5
"""Time limit of the last export at shutdown; the SDK would wait for 30 s."""
SEEN_BY_TRACING = ("REQUEST_METHOD", "HTTP_TRACEPARENT", "HTTP_TRACESTATE")
"""All that OpenTelemetry may read of a request. The rest includes query strings and addresses."""
WHOLE_REQUEST = "pressroom.environ"
UNTRACED_PATHS = ("/static/", "/health/", "/metrics")
"""Paths of files, and paths that probes poll every few seconds."""
PORTS = {"http": 80, "https": 443}


def trace_requests(application: "WSGIApplication") -> "WSGIApplication":
    """Return the application with a span around each request, if there is a collector.

    Call it after the fork: the exporter's thread would not survive one. The SDK reads its own
    variables (endpoint, headers, sampling, batches).
    """
    if not settings.TRACES:
        return application
    # Use the stable attribute names.
    os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "http")
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    names = {
        "service.name": "pressroom",
        "deployment.environment.name": settings.ENVIRONMENT_NAME,
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
        **OTELResourceDetector().detect().attributes,
    }
    provider = TracerProvider(resource=Resource.create(names))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    traced = OpenTelemetryMiddleware(
        lambda environ, start_response: application(environ[WHOLE_REQUEST], start_response)
    )

    def trace_request(environ: "WSGIEnvironment", start_response: "StartResponse") -> Any:
        if environ["PATH_INFO"].startswith(UNTRACED_PATHS):
            return application(environ, start_response)
        seen = {name: environ[name] for name in SEEN_BY_TRACING if name in environ}
        return traced({**seen, WHOLE_REQUEST: environ}, start_response)

    return trace_request


def current_span() -> "Span | None":
    if not settings.TRACES:
        return None
    from opentelemetry.trace import get_current_span

    span = get_current_span()
    return span if span.get_span_context().is_valid else None


def describe_request_span(
    request: HttpRequest, notes: RequestNotes, *, view: str, path: str
) -> None:
    """Set the name and attributes of a request's span, with the same facts as the log."""
    if not notes.span:
        return
    from opentelemetry.util.http import sanitize_method

    route = f"/{request.resolver_match.route}" if request.resolver_match else ""
    attributes = {
        "http.route": route,
        "url.path": path,
        "url.scheme": request.scheme or "",
        "user.name": notes.person,
        "pressroom.operation_key": notes.operation_key,
        "pressroom.request_id": notes.request_id,
        "pressroom.view": view,
    }
    method = (sanitize_method(request.method) or "").replace("_OTHER", "HTTP")
    notes.span.update_name(f"{method} {route}".rstrip())
    notes.span.set_attributes({name: value for name, value in attributes.items() if value})


@contextmanager
def call_span(call: Call) -> Iterator[None]:
    """Start a span for a call of the service, including its retries, if the request is traced."""
    notes = current_notes()
    if not notes or not notes.span:
        yield
        return
    from opentelemetry.trace import SpanKind, get_tracer, set_span_in_context

    service = urlsplit(settings.SERVICE_URL or "")
    with get_tracer("pressroom").start_as_current_span(
        call.operation,
        # The call may run in another thread, which does not have the current span.
        context=set_span_in_context(notes.span),
        kind=SpanKind.CLIENT,
        attributes={
            "http.request.method": call.method,
            "url.path": call.path,
            "pressroom.operation": call.operation,
            "server.address": service.hostname or "",
            "server.port": service.port or PORTS.get(service.scheme, 0),
        },
        # The message of an exception may quote data.
        record_exception=False,
        set_status_on_exception=False,
    ):
        yield


def describe_call_span(report: CallReport) -> None:
    if not (span := current_span()):
        return
    from opentelemetry.trace import StatusCode

    span.set_attribute("pressroom.outcome", call_outcome(report.error))
    span.set_attribute("pressroom.attempts", report.attempts)
    if report.status_code is not None:
        span.set_attribute("http.response.status_code", report.status_code)
    if error := report.error:
        status = str(error.status_code) if isinstance(error, StatusError) else ""
        span.set_attribute("error.type", status or type(error).__name__)
        span.set_status(StatusCode.ERROR)


def correlation_headers() -> dict[str, str]:
    """Return headers with which the service can link its logs and spans to this request."""
    notes = current_notes()
    headers = {REQUEST_ID_HEADER: notes.request_id} if notes else {}
    if settings.TRACES:
        from opentelemetry.propagate import inject

        inject(headers)
    return headers


def trace_ids(notes: RequestNotes) -> dict[str, str]:
    span = current_span() or notes.span
    if not span:
        return {}
    context = span.get_span_context()
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def flush_spans() -> None:
    """Export the remaining spans before the process ends, within STOP_S seconds."""
    if not settings.TRACES:
        return
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import get_tracer_provider

    provider = get_tracer_provider()
    if isinstance(provider, TracerProvider):
        export = Thread(target=provider.shutdown, daemon=True)
        export.start()
        export.join(STOP_S)
