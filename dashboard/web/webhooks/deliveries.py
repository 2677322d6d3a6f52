"""Turn a request to the receiver into a Delivery: redacted, truncated, never trusted."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.utils import timezone

from dashboard.contract.webhooks import EventName
from dashboard.ledger.models import Delivery
from dashboard.observability.redaction import redact_secret

MAX_BODY = 256 * 1024
"""Bytes."""
MAX_STORED = 16_384
"""Characters of a body that are stored: 10,000 bodies stay below 170 MB. Source: our choice."""
MAX_PER_MINUTE = 120
_MAX_HEADERS, _MAX_HEADER_VALUE = 60, 500
_MAX_VALUES = 2_000
"""Values of a body that are searched for an event and an audience."""
_EVENTS = frozenset(EventName)
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature|session", re.IGNORECASE)


def build_delivery(headers: Mapping[str, str], body: bytes) -> Delivery:
    """Return the delivery to store for a request."""
    text = _clean(body.decode(errors="replace"))
    event, audience_id = _event_and_audience(body)
    return Delivery(
        received_at=timezone.now(),
        size=len(body),
        content_type=_clean(headers.get("Content-Type", ""))[:200],
        headers=_redacted_headers(headers),
        body=text[:MAX_STORED],
        is_cut=len(text) > MAX_STORED,
        event=event,
        audience_id=audience_id,
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
    return text.replace("\0", "␀")


def _event_and_audience(body: bytes) -> tuple[str, str]:
    """Return the event and the audience id that a body names, "" if it names none.

    The spec shows no payload: any value that is the name of an event, and any `audienceId` or
    `audience_id`, counts. Several different ones count as none.
    """
    try:
        values = list(islice(_values(json.loads(body)), _MAX_VALUES))
    except (ValueError, RecursionError):
        return "", ""
    names = {value for _, value in values if value in _EVENTS}
    audiences = {
        value for key, value in values if key.replace("_", "").lower() == "audienceid" and value
    }
    return _single(names)[:64], _clean(_single(audiences))[:500]


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
