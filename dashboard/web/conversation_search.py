"""Finding and filtering inside a conversation: which messages stay, and why.

Every message is drawn; what does not stay is hidden, so that the browser can show it again
without asking, and a reload shows the same.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.web.conversation_reading import ShownConversation, ShownMessage
from dashboard.web.tool_calls import ShownCall
from dashboard.web.untrusted import visible_text

SHOWS = ("errors", "changes")
AROUND = 400
"""Characters shown on each side of a match in a result too large to show."""


@dataclass(frozen=True)
class Row:
    """A message, and what the search and the filter make of it."""

    shown: ShownMessage
    kinds: tuple[str, ...]
    """Under which filters it stays: `errors`, `changes`."""
    is_hidden: bool
    matches: int
    open_calls: frozenset[int]
    """The calls that hold a match, by index."""


@dataclass(frozen=True)
class Found:
    """How often words were found, and in which messages."""

    words: str
    rows: list[Row]

    @property
    def total(self) -> int:
        """How many matches there are."""
        return sum(row.matches for row in self.rows)

    @property
    def messages(self) -> list[Row]:
        """The messages that hold one."""
        return [row for row in self.rows if row.matches]

    @property
    def calls(self) -> list[str]:
        """The calls that hold one, by their places in the page."""
        return [
            call.place
            for row in self.rows
            for call in row.shown.calls
            if call.index in row.open_calls
        ]


def make_rows(conversation: ShownConversation, *, show: str = "", words: str = "") -> list[Row]:
    """Return every message with what a filter (one of `SHOWS`, or none) and words make of it."""
    kept = {kind: _kept(conversation.messages, kind) for kind in SHOWS}
    return [
        _row(message, tuple(kind for kind in SHOWS if message.number in kept[kind]), show, words)
        for message in conversation.messages
    ]


def result_around(call: ShownCall, words: str) -> str:
    """Return a call's result around the first match; empty where there is none."""
    found = list(_json_texts(call.call.result))
    whole = found[0] if found else ""
    at = _flat(whole).find(_flat(words)) if words else -1
    return whole[max(at - AROUND, 0) : at + len(words) + AROUND] if at >= 0 else ""


def _row(message: ShownMessage, kinds: tuple[str, ...], show: str, words: str) -> Row:
    matches, calls = _matches(message, _flat(words)) if words else (0, frozenset[int]())
    return Row(
        shown=message,
        kinds=kinds,
        is_hidden=bool(words and not matches) or bool(show and show not in kinds),
        matches=matches,
        open_calls=calls,
    )


def _kept(messages: list[ShownMessage], kind: str) -> set[int]:
    if kind == "changes":
        return {message.number for message in messages if message.changes}
    return set(_errors_and_causes(messages))


def _errors_and_causes(messages: list[ShownMessage]) -> Iterator[int]:
    """Yield the messages with a failed call, each with the turn before it that is no agent's."""
    cause: int | None = None
    for message in messages:
        if not message.is_agent:
            cause = message.number
        if message.has_error:
            yield message.number
            if cause is not None:
                yield cause


def _matches(message: ShownMessage, words: str) -> tuple[int, frozenset[int]]:
    in_calls = {call.index: _count(_call_texts(call), words) for call in message.calls}
    total = _count(_texts(message), words) + sum(in_calls.values())
    return total, frozenset(index for index, count in in_calls.items() if count)


def _count(texts: Iterator[str | None], words: str) -> int:
    return sum(_flat(text).count(words) for text in texts if text)


def _flat(text: str) -> str:
    """Return a text as it is compared: without case, and any blank is a blank."""
    return re.sub(r"\s", " ", text.casefold())


def _texts(message: ShownMessage) -> Iterator[str | None]:
    for part in message.parts:
        yield part.text if part.type else visible_text(part.text or "")
    yield visible_text(message.message.reasoning or "")
    for made in message.changes:
        yield made.change.previous_value
        yield made.change.new_value


def _call_texts(call: ShownCall) -> Iterator[str | None]:
    yield call.call.name
    yield call.call.error
    yield from _json_texts(call.call.arguments)
    yield from _json_texts(call.call.result)


def _json_texts(value: Any) -> Iterator[str]:
    if value is not None:
        yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
