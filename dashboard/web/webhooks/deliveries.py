"""Turn a request to the receiver into a delivery. Content is redacted and never trusted."""

import json
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dashboard import clock
from dashboard.contract.webhooks import EventName
from dashboard.texts import redact_secret
from dashboard.webhooks.models import ReceivedDelivery

MAX_BODY = 256 * 1024
"""In bytes."""
MAX_UNPACKED = 1024 * 1024
"""Limit for the content of a compressed body, in bytes."""
MAX_STORED = 16_384
"""Stored characters of a body. 10,000 bodies stay below 170 MB. Source: our choice."""
MAX_PER_MINUTE = 120
MAX_SIGNED_PER_MINUTE = 1_200
"""Limit for signed requests. A release of 200 versions causes 600 events in 1 to 2 minutes."""
_MAX_HEADERS, _MAX_HEADER_VALUE = 60, 500
_MAX_VALUES = 2_000
"""Number of values in a body that are searched for an event and an audience."""
_MAX_ID = 500
_EVENTS = frozenset(EventName)
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
"""Token of valid JSON: a string, a punctuation mark, a number or a constant."""
_OPENING, _CLOSING = ("{", "["), ("}", "]")
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature|session", re.IGNORECASE)


@dataclass(frozen=True)
class EventClaim:
    """What a body claims to be about. Fields that it doesn't name are ""."""

    event: str = ""
    """One of the six events in the spec."""
    unknown_event: str = ""
    """Name of an event that is not in the spec."""
    page_id: str = ""
    audience_id: str = ""

    @property
    def is_about_form(self) -> bool:
        return (self.event or self.unknown_event).startswith("form.")


@dataclass(frozen=True)
class Body:
    size: int
    """Size as sent, in bytes."""
    content: bytes
    encoding: str = ""
    change: str = ""
    """What unpacking changed, or why it failed, in words."""
    is_cut: bool = False


def unpack(headers: Mapping[str, str], body: bytes) -> Body:
    """Return the body of a request. A compressed body is unpacked to at most MAX_UNPACKED bytes."""
    encoding = _clean(headers.get("Content-Encoding", "")).strip().lower()[:40]
    if encoding in ("", "identity"):
        return Body(len(body), body)
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return Body(len(body), body, encoding, f"compressed with {encoding}, which isn’t unpacked")
    try:
        content, is_whole = _inflate(body)
    except zlib.error:
        return Body(len(body), body, encoding, f"it isn’t {encoding} as announced, or damaged")
    change = f"unpacked from {encoding}" + ("" if is_whole else ", not to its end")
    return Body(len(body), content[:MAX_UNPACKED], encoding, change, is_cut=not is_whole)


def _inflate(body: bytes) -> tuple[bytes, bool]:
    """Return the unpacked content, and whether it is complete. Raises zlib.error."""
    content = b""
    while body:
        part = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        content += part.decompress(body, MAX_UNPACKED + 1 - len(content))
        if not part.eof or len(content) > MAX_UNPACKED:
            return content, False
        body = part.unused_data
    return content, True


def build_delivery(headers: Mapping[str, str], body: Body, claim: EventClaim) -> ReceivedDelivery:
    text, changes = _as_text(body.content)
    # Redact likely secrets. The receiver's own URL is one, too.
    redacted = {
        _clean(name)[:200]: f"redacted ({len(value)} characters)"
        if _SECRET.search(name)
        else redact_secret(_clean(value))[:_MAX_HEADER_VALUE]
        for name, value in islice(sorted(headers.items()), _MAX_HEADERS)
        if value
    }
    return ReceivedDelivery(
        received_at=clock.now(),
        size=body.size,
        encoding=body.encoding,
        changes=[*filter(None, [body.change]), *changes],
        content_type=_clean(headers.get("Content-Type", ""))[:200],
        headers=redacted,
        body=text[:MAX_STORED],
        is_cut=body.is_cut or len(text) > MAX_STORED,
        event=claim.event,
        audience_id=claim.audience_id,
    )


def _as_text(content: bytes) -> tuple[str, list[str]]:
    """Return the bytes as text that every database can store, and the changes in words."""
    codec, changes = "utf-8", []
    marks = {BOM_UTF8: "utf-8", BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
    for mark in (mark for mark in marks if content.startswith(mark)):
        codec, content = marks[mark], content.removeprefix(mark)
        changes.append("without its byte order mark")
    if codec != "utf-8":
        changes.append("converted from UTF-16")
    text = content.decode(codec, errors="replace")
    if text.encode(codec) != content:
        changes.append("bytes that aren’t text are shown as �")
    if "\0" in text:
        changes.append("null characters are shown as ␀")
    return _clean(text), changes


def indented_json(text: str) -> str | None:
    """Return JSON with a line for each value; None if the text isn't JSON.

    Everything else stays as sent. Parsing and writing the JSON would change numbers and drop
    duplicate keys.
    """
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    pieces, depth, before = [], 0, ""
    for part in _PART.findall(text):
        depth -= part in _CLOSING
        is_new_line = before in _OPENING if part not in _CLOSING else before not in _OPENING
        if before and (is_new_line or before == ","):
            pieces.append("\n" + "  " * depth)
        pieces.append(": " if part == ":" else part)
        depth += part in _OPENING
        before = part
    return "".join(pieces)


def _reject(constant: str) -> str:
    raise ValueError(f"{constant} is no JSON")


def _clean(text: str) -> str:
    """Return a text that every database can store, without NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\0", "␀")


def read_claim(body: bytes) -> EventClaim:
    """Return what a body claims to be about.

    The spec shows no payload. So any value that is an event's name counts, and any `pageId`,
    `page_id`, `audienceId` or `audience_id`. Several different values count as none. The name of an
    unknown event is the value of `event` or `type` at the top level.
    """
    try:
        # Read objects as pairs, so that both of two equal keys count.
        parsed = json.loads(body, object_pairs_hook=tuple)
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
    pairs = parsed if isinstance(parsed, tuple) else ()
    names = (value for key in ("event", "type") for name, value in pairs if name == key)
    return _clean(next((name for name in names if isinstance(name, str)), ""))


def _single_id(values: Iterable[tuple[str, str]], key: str) -> str:
    """Return the id with this key in any spelling; "" if there are several different ids."""
    ids = {value for name, value in values if name.replace("_", "").lower() == key and value}
    return _clean(_single(ids))[:_MAX_ID]


def _single(values: set[str]) -> str:
    return values.pop() if len(values) == 1 else ""


def _values(body: Any) -> Iterator[tuple[str, str]]:
    stack: list[tuple[str, Any]] = [("", body)]
    while stack:
        key, value = stack.pop()
        match value:
            case str():
                yield key, value
            case tuple():
                stack.extend(value)
            case list():
                stack.extend((key, item) for item in value)
