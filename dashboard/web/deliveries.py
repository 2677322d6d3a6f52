"""What arrives at the receiver, as it is written down: masked, cut, and never trusted."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from time import time
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from gunicorn.http.errors import ParseException

from dashboard.contract.webhooks import EventName
from dashboard.ledger.models import Delivery
from dashboard.web.hook_addresses import without_secret

LARGEST_BODY = 256 * 1024
"""Bytes."""
KEPT_CHARACTERS = 16_384
"""Of a body. 10,000 of them stay below 170 MB. Source: our choice."""
MOST_A_MINUTE = 120
_KEPT_HEADERS, _KEPT_VALUE = 60, 500
_LOOKED_AT = 2_000
"""Values of a body that are looked at for an event and an audience."""
_EVENTS = frozenset(EventName)
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature|session", re.IGNORECASE)


class BodyTooLargeError(Exception):
    """The body is over LARGEST_BODY."""


class BodyBrokeOffError(Exception):
    """Less of the body came than was told, or a piece of it that can't be told from the next."""


def read_body(request: HttpRequest) -> bytes:
    """Return the body. Raises BodyBrokeOffError, and BodyTooLargeError before more than
    LARGEST_BODY is read."""
    told = request.META.get("CONTENT_LENGTH") or ""
    if told.isdecimal() and int(told) > LARGEST_BODY:
        raise BodyTooLargeError
    # Django reads no body whose length was not told; a server that ends one itself says so.
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    ends_itself = is_chunked and request.META.get("wsgi.input_terminated")
    source = request.META["wsgi.input"] if ends_itself else request
    try:
        body: bytes = source.read(LARGEST_BODY + 1)
    except (OSError, ParseException) as error:
        raise BodyBrokeOffError from error
    if len(body) > LARGEST_BODY:
        raise BodyTooLargeError
    if not ends_itself and told.isdecimal() and len(body) < int(told):
        raise BodyBrokeOffError
    return body


def seconds_to_wait() -> int:
    """Count one request; return 0, or the seconds until one is taken again.

    The count is kept in the cache: of one process without CACHE_URL, of all with it.
    """
    minute, into = divmod(int(time()), 60)
    key = f"receiver:{minute}"
    cache.add(key, 0, timeout=120)
    try:
        count = cache.incr(key)
    except ValueError:  # It was dropped between the two.
        return 0
    return 60 - into if count > MOST_A_MINUTE else 0


def delivery_of(headers: Mapping[str, str], body: bytes) -> Delivery:
    """Return what is written down of a request."""
    words = body.decode(errors="replace").replace("\0", "␀")
    event, audience_id = _spoken_of(body)
    return Delivery(
        received_at=timezone.now(),
        size=len(body),
        content_type=_clean(headers.get("Content-Type", ""))[:200],
        headers=_masked(headers),
        body=words[:KEPT_CHARACTERS],
        is_cut=len(words) > KEPT_CHARACTERS,
        event=event,
        audience_id=audience_id,
    )


def _masked(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers, with what looks like a secret replaced: our own address is one too."""
    return {
        _clean(name)[:200]: f"masked, {len(value)} characters"
        if _SECRET.search(name)
        else without_secret(_clean(value))[:_KEPT_VALUE]
        for name, value in islice(sorted(headers.items()), _KEPT_HEADERS)
        if value
    }


def _clean(words: str) -> str:
    return words.replace("\0", "␀")


def _spoken_of(body: bytes) -> tuple[str, str]:
    """Return the event and the audience that a body speaks of, "" where it does not.

    The spec shows no payload: any value that is the name of an event, and any `audienceId` or
    `audience_id`, is taken for it. Two that differ are none.
    """
    try:
        values = list(islice(_values(json.loads(body)), _LOOKED_AT))
    except (ValueError, RecursionError):
        return "", ""
    names = {value for _, value in values if value in _EVENTS}
    audiences = {
        value for key, value in values if key.replace("_", "").lower() == "audienceid" and value
    }
    return _only(names)[:64], _clean(_only(audiences))[:500]


def _only(found: set[str]) -> str:
    return found.pop() if len(found) == 1 else ""


def _values(body: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts in some JSON, each with the name it stands under."""
    waiting: list[tuple[str, Any]] = [("", body)]
    while waiting:
        key, value = waiting.pop()
        match value:
            case str():
                yield key, value
            case dict():
                waiting.extend(value.items())
            case list():
                waiting.extend((key, item) for item in value)
