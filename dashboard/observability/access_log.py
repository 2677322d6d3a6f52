"""Log, count and trace each request."""

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.encoding import escape_uri_path

from dashboard.observability import metrics
from dashboard.observability.request_context import (
    REQUEST_ID_HEADER,
    RequestNotes,
    StreamInContext,
    request_context,
)
from dashboard.observability.tracing import describe_request_span, start_request_span
from dashboard.redaction import redact_secret

_logger = logging.getLogger("dashboard.requests")

VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
PROBE_VIEWS = {"health-live", "health-ready", "metrics"}
"""Polled every few seconds: logged at DEBUG only, and not traced."""


def access_log_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request an id, its own if a trusted header has a valid one; log its response."""

    def middleware(request: HttpRequest) -> HttpResponse:
        header = settings.REQUEST_ID_HEADER
        sent_id = request.headers.get(header, "") if header else ""
        notes = RequestNotes(sent_id if VALID_ID.fullmatch(sent_id) else secrets.token_hex(8))
        # Django logs 4xx and 5xx responses after this middleware, with the request.
        request.notes = notes  # type: ignore[attr-defined]  # ours
        start = time.monotonic()
        start_request_span(request, notes)
        with request_context(notes):
            response = get_response(request)
            _log_request(request, response, notes, time.monotonic() - start)
        response.headers[REQUEST_ID_HEADER] = notes.request_id
        if response.streaming:
            streaming = cast("StreamingHttpResponse", response)
            pieces = cast("Iterable[bytes]", streaming.streaming_content)
            streaming.streaming_content = StreamInContext(pieces, notes)
        elif notes.span:
            notes.span.end()
        return response

    return middleware


def _log_request(
    request: HttpRequest, response: HttpResponse, notes: RequestNotes, took_s: float
) -> None:
    view = (request.resolver_match and request.resolver_match.view_name) or "none"
    metrics.count_request(request.method or "", view, response.status_code, took_s)
    # Without the query string: it may hold the name of a person.
    path = redact_secret(escape_uri_path(request.path))
    if view in PROBE_VIEWS:
        # A span that never ends is never exported.
        notes.span = None
    describe_request_span(request, notes, view=view, path=path, status=response.status_code)
    facts = {
        "method": request.method,
        "path": path,
        "view": view,
        "status": response.status_code,
        "duration_ms": round(took_s * 1000, 1),
        "upstream_calls": len(notes.calls),
        "upstream_ms": round(notes.upstream_ms, 1),
    }
    _logger.log(
        logging.DEBUG if view in PROBE_VIEWS else logging.INFO,
        "%(method)s %(path)s %(status)s %(duration_ms).0f ms, "
        "of which %(upstream_ms).0f ms the service",
        facts,
        extra={"facts": facts},
    )
