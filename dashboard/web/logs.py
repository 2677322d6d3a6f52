"""How a log line is written: as JSON for machines, as a line for a person at a terminal.

Both keep out what people's data may stand in: queries are never logged, and of an exception its
kind and its way through the code are, its words only where they can't quote what was read.
"""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.template import TemplateDoesNotExist
from redis.exceptions import RedisError

from dashboard.web.hook_addresses import without_secret
from dashboard.web.request_notes import RequestNotes, current_notes
from dashboard.web.tracing import trace_ids

ABOUT_THE_MACHINE = (
    *(AttributeError, ImportError, NameError, OSError, TypeError, SystemExit),
    *(ImproperlyConfigured, OperationalError, RedisError, TemplateDoesNotExist),
)
"""Exceptions whose words speak of code, files, connections: never of what an answer held."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class JsonLine(logging.Formatter):
    """One JSON object a line: what was said, about which request, and the facts beside it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(_fields(record), default=str)


class TextLine(logging.Formatter):
    """A line for a person; an exception's way through the code stands below it, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, in which nothing that was logged can begin another."""
        fields = _fields(record)
        about = " ".join(
            fields[name] for name in ("request_id", "person", "operation_key") if name in fields
        )
        head = f"{fields['at']} {fields['level']} {fields['logger']}"
        line = f"{head} [{about}]: " if about else f"{head}: "
        line += fields["message"]
        return "\n".join(map(_on_one_line, (line, *_below(fields.get("exceptions", [])))))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        # Django's own lines tell the path of a request, as gunicorn's do.
        "message": without_secret(record.getMessage()),
    }
    if notes := current_notes() or _notes_brought_by(record):
        about = {
            "request_id": notes.request_id,
            "person": notes.person,
            "operation_key": notes.operation_key,
        }
        fields |= {name: value for name, value in about.items() if value} | trace_ids(notes)
    fields |= getattr(record, "facts", {})
    if record.exc_info and record.exc_info[1]:
        fields["exceptions"] = [_exception(each) for each in _chain(record.exc_info[1])]
    return fields


def _notes_brought_by(record: logging.LogRecord) -> RequestNotes | None:
    """Return the notes of the request that a line names itself, as Django's do."""
    notes: RequestNotes | None = getattr(getattr(record, "request", None), "notes", None)
    return notes


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception and those behind it, the first cause last."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _exception(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    said = {"said": str(error)} if isinstance(error, ABOUT_THE_MACHINE) else {}
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    way = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": kind, **said, "way": way}


def _below(exceptions: list[dict[str, Any]]) -> Iterator[str]:
    for each in exceptions:
        yield f"  {each['kind']}: {each.get('said', 'its words may quote what was read')}"
        yield from (f"    {place}" for place in each["way"])


def _on_one_line(text: str) -> str:
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
