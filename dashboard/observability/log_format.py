"""Log formatters: JSON for machines, text for a terminal.

Neither logs personal data: query strings are left out, and of an exception only its class and its
traceback are logged, its message only if that can't quote data.
"""

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.template import TemplateDoesNotExist

from dashboard.observability.request_context import RequestNotes, current_notes
from dashboard.observability.tracing import trace_ids
from dashboard.redaction import redact_secret

SAFE_TO_LOG = (
    *(AttributeError, ImportError, NameError, OSError, TypeError, SystemExit),
    *(ImproperlyConfigured, OperationalError, TemplateDoesNotExist),
)
"""Exceptions whose messages are about code, files or connections, never about data; and Redis's."""

_REQUEST_FIELDS = ("request_id", "person", "operation_key")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class JsonFormatter(logging.Formatter):
    """One JSON object per line: the message, its request and further facts."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(record), default=str)


class TextFormatter(logging.Formatter):
    """A line of text, followed by the traceback of an exception, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with control characters escaped, so that none can forge another line."""
        fields = _fields(record)
        head = f"{fields['at']} {fields['level']} {fields['logger']}"
        if about := [fields[name] for name in _REQUEST_FIELDS if name in fields]:
            head += f" [{' '.join(about)}]"
        lines = [f"{head}: {fields['message']}"]
        for each in fields.get("exceptions", []):
            lines.append(f"  {each['kind']}: {each.get('message', '(message not logged)')}")
            lines += [f"    {frame}" for frame in each["traceback"]]
        return "\n".join(
            _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), line)
            for line in lines
        )


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        # Lines of Django and gunicorn contain the path of a request.
        "message": redact_secret(record.getMessage()),
    }
    # Outside of the request, Django's records have it.
    sent_with: RequestNotes | None = getattr(getattr(record, "request", None), "notes", None)
    if notes := current_notes() or sent_with:
        for name in _REQUEST_FIELDS:
            if value := getattr(notes, name):
                fields[name] = value
        fields |= trace_ids(notes)
    fields |= getattr(record, "facts", {})
    if record.exc_info and record.exc_info[1]:
        fields["exceptions"] = [_exception(each) for each in _chain(record.exc_info[1])]
    return fields


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception and its causes."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _is_safe_to_log(error: BaseException) -> bool:
    # Without a Redis its library is never loaded, which takes a tenth of the server's start.
    redis = sys.modules.get("redis.exceptions")
    return isinstance(error, SAFE_TO_LOG) or bool(redis and isinstance(error, redis.RedisError))


def _exception(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    message = {"message": str(error)} if _is_safe_to_log(error) else {}
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": kind, **message, "traceback": places}
