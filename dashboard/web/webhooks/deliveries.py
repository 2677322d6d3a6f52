"""Turn a request to the receiver into a Delivery: redacted, truncated, never trusted."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils import timezone

from dashboard.contract.webhooks import EventName
from dashboard.ledger.models import Delivery
from dashboard.redaction import redact_secret

MAX_BODY = 256 * 1024
"""Bytes."""
MAX_STORED = 16_384
"""Characters of a body that are stored: 10,000 bodies stay below 170 MB. Source: our choice."""
MAX_PER_MINUTE = 120
MAX_SIGNED_PER_MINUTE = 1_200
"""A release of 200 versions brings 600 events within a minute or two."""
_MAX_HEADERS, _MAX_HEADER_VALUE = 60, 500
_MAX_VALUES = 2_000
"""Values of a body that are searched for an event and an audience."""
_MAX_ID = 500
_EVENTS = frozenset(EventName)
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature|session", re.IGNORECASE)


@dataclass(frozen=True)
class EventClaim:
    """What a body says that it is about; "" for what it doesn't name."""

    event: str = ""
    """One of the spec's six events."""
    unknown_event: str = ""
    """The name of another one."""
    page_id: str = ""
    audience_id: str = ""

    @property
    def is_about_form(self) -> bool:
        """Whether it is about a form, so that no version has changed."""
        return (self.event or self.unknown_event).startswith("form.")


def build_delivery(headers: Mapping[str, str], body: bytes, claim: EventClaim) -> Delivery:
    """Return the delivery to store for a request."""
    text = _clean(body.decode(errors="replace"))
    return Delivery(
        received_at=timezone.now(),
        size=len(body),
        content_type=_clean(headers.get("Content-Type", ""))[:200],
        headers=_redacted_headers(headers),
        body=text[:MAX_STORED],
        is_cut=len(text) > MAX_STORED,
        event=claim.event,
        audience_id=claim.audience_id,
    )


def _redacted_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers, with likely secrets redacted; the receiver's own URL is one too."""
    return {
        _clean(name)[:200]: f"redacted ({len(value)} characters)"
        if _SECRET.search(name)
        else redact_secret(_clean(value))[:_MAX_HEADER_VALUE]
        for name, value in islice(sorted(headers.items()), _MAX_HEADERS)
        if value
    }


def _clean(text: str) -> str:
    """Return a text that every database can store: without NUL and halves of characters."""
    return text.encode(errors="replace").decode().replace("\0", "␀")


def read_claim(body: bytes) -> EventClaim:
    """Return what a body says that it is about.

    The spec shows no payload: any value that is the name of an event counts, and any `pageId` or
    `page_id`, `audienceId` or `audience_id`. Several different ones count as none. The name of an
    unknown event is the value of `event` or `type` at the top.
    """
    try:
        parsed = json.loads(body)
        values = list(islice(_values(parsed), _MAX_VALUES))
    except (ValueError, RecursionError):
        return EventClaim()
    names = {value for _, value in values if value in _EVENTS}
    return EventClaim(
        event=_single(names)[:64],
        unknown_event="" if names else _event_name(parsed),
        page_id=_single_id(values, "pageid"),
        audience_id=_single_id(values, "audienceid"),
    )


def _event_name(parsed: Any) -> str:
    """Return the text that names the event, if the body is an object that has one."""
    found = parsed if isinstance(parsed, dict) else {}
    name = next((found[key] for key in ("event", "type") if isinstance(found.get(key), str)), "")
    return _clean(name)


def _single_id(values: Iterable[tuple[str, str]], key: str) -> str:
    """Return the one id with this key, whatever its spelling; "" if there are others."""
    found = {value for name, value in values if name.replace("_", "").lower() == key and value}
    return _clean(_single(found))[:_MAX_ID]


def _single(found: set[str]) -> str:
    return found.pop() if len(found) == 1 else ""


def _values(body: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a JSON value, each with its key."""
    stack: list[tuple[str, Any]] = [("", body)]
    while stack:
        key, value = stack.pop()
        match value:
            case str():
                yield key, value
            case dict():
                stack.extend(value.items())
            case list():
                stack.extend((key, item) for item in value)
