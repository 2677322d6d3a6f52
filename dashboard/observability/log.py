"""The log: a line for each request, as JSON for machines or as text for a terminal.

Neither format logs personal data. Query strings are left out. An exception is logged with its class
and traceback, and with its message only if the message can't quote data.
"""

import json
import logging
import re
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template import TemplateDoesNotExist
from django.utils.encoding import escape_uri_path

from dashboard.observability import metrics
from dashboard.observability.request_context import (
    REQUEST_ID_HEADER,
    RequestNotes,
    current_notes,
    request_context,
    stream_in_context,
)
from dashboard.observability.tracing import current_span, describe_request_span, trace_ids
from dashboard.texts import redact_secret

SAFE_TO_LOG = (
    *(AttributeError, ImportError, NameError, OSError, TypeError, SystemExit),
    *(ImproperlyConfigured, OperationalError, TemplateDoesNotExist),
)
"""Exceptions whose messages are about code, files or connections, never about data.

`_exception` adds those of Redis.
"""

VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
POLLED_VIEWS = {"health-live", "health-ready", "metrics", "live", "here"}
"""Views that probes and open pages request every few seconds: logged at DEBUG only."""

_REQUEST_FIELDS = ("request_id", "person", "machine", "operation_key")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_logger = logging.getLogger("dashboard.requests")


def access_log_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request an ID, and log its response.

    A valid ID in the trusted header (REQUEST_ID_HEADER) is kept.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        header = settings.REQUEST_ID_HEADER
        sent_id = request.headers.get(header, "") if header else ""
        request_id = sent_id if VALID_ID.fullmatch(sent_id) else secrets.token_hex(8)
        notes = RequestNotes(request_id, span=current_span())
        # Django logs 4xx and 5xx responses after this middleware, with the request.
        request.notes = notes  # type: ignore[attr-defined]  # ours
        start = time.monotonic()
        with request_context(notes):
            response = get_response(request)
            _log_request(request, response, notes, time.monotonic() - start)
        response.headers[REQUEST_ID_HEADER] = notes.request_id
        if response.streaming:
            streaming = cast("StreamingHttpResponse", response)
            pieces = cast("Iterable[bytes]", streaming.streaming_content)
            streaming.streaming_content = stream_in_context(pieces, notes)
        return response

    return middleware


def _log_request(
    request: HttpRequest, response: HttpResponse, notes: RequestNotes, took_s: float
) -> None:
    view = (request.resolver_match and request.resolver_match.view_name) or "none"
    metrics.count_request(request.method or "", view, response.status_code, took_s)
    # Leave out the query string: it may contain a person's name.
    path = redact_secret(escape_uri_path(request.path))
    describe_request_span(request, notes, view=view, path=path)
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
        logging.DEBUG if view in POLLED_VIEWS else logging.INFO,
        "%(method)s %(path)s %(status)s %(duration_ms).0f ms, "
        "of which %(upstream_ms).0f ms the service",
        facts,
        extra={"facts": facts},
    )


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(record), default=str)


class TextFormatter(logging.Formatter):
    """A line of text, followed by the traceback of an exception, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text with control characters escaped, so that no data can forge a line."""
        fields = _fields(record)
        head = f"{fields['at']} {fields['level']} {fields['logger']}"
        if about := [fields[name] for name in _REQUEST_FIELDS if name in fields]:
            head += f" [{' '.join(about)}]"
        lines = [f"{head}: {fields['message']}"]
        for exception in fields.get("exceptions", []):
            lines.append(
                f"  {exception['kind']}: {exception.get('message', '(message not logged)')}"
            )
            lines += [f"    {frame}" for frame in exception["traceback"]]
        return "\n".join(
            _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), line)
            for line in lines
        )


class WithoutQuery(logging.Filter):
    """Drops the query string of a failed request's URL: it may contain a person's name."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args
            )
        return True


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        # Messages of Django and gunicorn contain the path of a request.
        "message": redact_secret(record.getMessage()),
    }
    # After the request, Django's records still refer to it.
    sent_with: RequestNotes | None = getattr(getattr(record, "request", None), "notes", None)
    if notes := current_notes() or sent_with:
        for name in _REQUEST_FIELDS:
            if value := getattr(notes, name):
                fields[name] = value
        fields |= trace_ids(notes)
    fields |= getattr(record, "facts", {})
    if record.exc_info and record.exc_info[1]:
        fields["exceptions"] = [_exception(error) for error in _chain(record.exc_info[1])]
    return fields


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _exception(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    # Don't import Redis's library if it isn't used: that takes a tenth of the server's start.
    redis = sys.modules.get("redis.exceptions")
    is_safe = isinstance(error, (*SAFE_TO_LOG, redis.RedisError) if redis else SAFE_TO_LOG)
    message = {"message": str(error)} if is_safe else {}
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": kind, **message, "traceback": places}


@contextmanager
def suppress_call_reports(*loggers: str) -> Iterator[None]:
    """Do not log calls to the service, responses of the embedded API, or anything of `loggers`."""
    quiet = {"dashboard.client": logging.WARNING, "django.request": logging.ERROR}
    quiet |= dict.fromkeys(loggers, logging.CRITICAL)
    before = {name: logging.getLogger(name).level for name in quiet}
    for name, level in quiet.items():
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
