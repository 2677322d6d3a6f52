"""Turn a request to the receiver into a delivery: redacted, truncated, never trusted."""

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
"""Bytes."""
MAX_UNPACKED = 1024 * 1024
"""Bytes of a body that was compressed."""
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
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
"""Of valid JSON: a text, a sign, or a number or constant."""
_OPENING, _CLOSING = ("{", "["), ("}", "]")
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
        return (self.event or self.unknown_event).startswith("form.")


@dataclass(frozen=True)
class Body:
    size: int
    """Bytes, as sent."""
    content: bytes
    encoding: str = ""
    change: str = ""
    """What was done, or couldn't be done, to unpack it; in words."""
    is_cut: bool = False


def unpack(headers: Mapping[str, str], body: bytes) -> Body:
    """Return the body of a request; of a compressed one, at most MAX_UNPACKED bytes."""
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
    """Return what was compressed, and whether that is all of it. Raises zlib.error."""
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
    # Likely secrets are redacted; the receiver's own URL is one too.
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
    """Return the bytes as text that every database can store, and what was changed, in words."""
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
    """Return JSON with a line for each value, else as sent: also a key that occurs twice.

    None if it isn't JSON. Parsing and writing it again would change numbers and drop keys.
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
    """Return a text that every database can store: without NUL and halves of characters."""
    return text.encode(errors="replace").decode().replace("\0", "␀")


def read_claim(body: bytes) -> EventClaim:
    """Return what a body says that it is about.

    The spec shows no payload: any value that is the name of an event counts, and any `pageId` or
    `page_id`, `audienceId` or `audience_id`. Several different ones count as none. The name of an
    unknown event is the value of `event` or `type` at the top.
    """
    try:
        # Objects as pairs: of two keys with the same name, both count.
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
    """Return the one id with this key, whatever its spelling; "" if there are others."""
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
