"""One line in the log, one count and one span for each request that reaches a view."""

import logging
import time
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.encoding import escape_uri_path

from dashboard.web import metrics
from dashboard.web.hook_addresses import without_secret
from dashboard.web.middleware import Handler
from dashboard.web.request_notes import (
    REQUEST_ID_HEADER,
    RequestNotes,
    noted_pieces,
    noting,
    request_id_from,
)
from dashboard.web.tracing import begin_span, end_span, forget_span, tell_span

_logger = logging.getLogger("dashboard.requests")

MACHINES = {"health-live", "health-ready", "metrics"}
"""Asked every few seconds by machines: no line and no span for them."""


def noted_requests(get_response: Handler) -> Handler:
    """Give each request an id, and tell when it was answered."""

    def middleware(request: HttpRequest) -> HttpResponse:
        notes = RequestNotes(request_id_from(_sent_id(request)))
        # Django logs an answer of 4xx or 5xx when all of this is over, and brings the request.
        request.notes = notes  # type: ignore[attr-defined]  # ours
        start = time.monotonic()
        begin_span(request, notes)
        with noting(notes):
            response = get_response(request)
            _tell(request, response, notes, time.monotonic() - start)
        response.headers[REQUEST_ID_HEADER] = notes.request_id
        if response.streaming:
            _note_the_rest(cast("StreamingHttpResponse", response), notes)
        end_span(response, notes)
        return response

    return middleware


def _sent_id(request: HttpRequest) -> str | None:
    name = settings.REQUEST_ID_HEADER
    return request.headers.get(name) if name else None


def _tell(request: HttpRequest, response: HttpResponse, notes: RequestNotes, took_s: float) -> None:
    view = (request.resolver_match and request.resolver_match.view_name) or "none"
    metrics.count_request(request.method or "", view, response.status_code, took_s)
    # Without the query: whom a person searches for is nobody else's business.
    path = without_secret(escape_uri_path(request.path))
    if view in MACHINES:
        forget_span(notes)
    tell_span(request, notes, view=view, path=path, status=response.status_code)
    facts = {
        "method": request.method,
        "path": path,
        "view": view,
        "status": response.status_code,
        "duration_ms": round(took_s * 1000, 1),
        "upstream_calls": notes.calls,
        "upstream_ms": round(notes.upstream_ms, 1),
    }
    _logger.log(
        logging.DEBUG if view in MACHINES else logging.INFO,
        "%(method)s %(path)s %(status)s %(duration_ms).0f ms, "
        "of which %(upstream_ms).0f ms the service",
        facts,
        extra={"facts": facts},
    )


def _note_the_rest(response: StreamingHttpResponse, notes: RequestNotes) -> None:
    """The calls that are made while the answer is sent belong to this request too."""
    response.streaming_content = noted_pieces(
        cast("list[bytes]", response.streaming_content), notes
    )
