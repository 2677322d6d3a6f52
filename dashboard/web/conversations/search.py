"""Search and filter within a conversation.

All messages are rendered, and those that don't match are hidden. The browser can show them again
without a request, and a reload shows the same.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.texts import fold
from dashboard.web.conversations.thread import ConversationThread, ThreadMessage
from dashboard.web.conversations.tool_calls import ThreadCall
from dashboard.web.ui.markdown import visible_text

SHOWS = ("errors", "changes")
AROUND = 400
"""Characters on each side of a match, for a result that is too large to show."""

_MARKS = re.compile(r"[*_~`\\]")
_JOINING = re.compile(r"[\[&]")
_RUNS = re.compile(r"[^\W_]+")
"""Runs of letters and digits, which contain no Markdown syntax."""


@dataclass(frozen=True)
class SearchHitRow:
    message: ThreadMessage
    kinds: tuple[str, ...]
    """Filters that the message matches: `errors`, `changes`."""
    is_hidden: bool
    matches: int
    open_calls: frozenset[int]


@dataclass(frozen=True)
class ConversationSearchResult:
    words: str
    rows: list[SearchHitRow]

    @property
    def total(self) -> int:
        return sum(row.matches for row in self.rows)

    @property
    def messages(self) -> list[SearchHitRow]:
        return [row for row in self.rows if row.matches]

    @property
    def calls(self) -> list[str]:
        return [
            call.place
            for row in self.rows
            for call in row.message.calls
            if call.index in row.open_calls
        ]


def make_rows(
    conversation: ConversationThread, *, show: str = "", words: str = ""
) -> list[SearchHitRow]:
    """Return a row for every message. `show` is one of `SHOWS`, or empty for no filter."""
    numbers = {
        "errors": set(_errors_and_causes(conversation.messages)),
        "changes": {message.number for message in conversation.messages if message.changes},
    }
    return [
        _row(message, tuple(kind for kind in SHOWS if message.number in numbers[kind]), show, words)
        for message in conversation.messages
    ]


def result_around(call: ThreadCall, words: str) -> str:
    """Return the part of a call's result around the first match; empty if there is no match."""
    whole = _json_text(call.result)
    folded_at = _normalize(whole).find(_normalize(words)) if words else -1
    if folded_at < 0:
        return ""
    at = _unfolded_index(folded_at, whole)
    return whole[max(at - AROUND, 0) : at + len(words) + AROUND]


def _row(message: ThreadMessage, kinds: tuple[str, ...], show: str, words: str) -> SearchHitRow:
    matches, in_calls = 0, dict[int, int]()
    if words:
        folded = _normalize(words)
        for call in message.calls:
            texts = map(_json_text, (call.name, call.error, call.arguments, call.result))
            in_calls[call.index] = _count(texts, folded)
        matches = _count(_texts(message, folded), folded) + sum(in_calls.values())
    return SearchHitRow(
        message=message,
        kinds=kinds,
        is_hidden=bool(words and not matches) or bool(show and show not in kinds),
        matches=matches,
        open_calls=frozenset(index for index, count in in_calls.items() if count),
    )


def _errors_and_causes(messages: list[ThreadMessage]) -> Iterator[int]:
    """Yield the numbers of messages with a failed call.

    Also yields the last message before each that is not from an agent.
    """
    cause: int | None = None
    for message in messages:
        if not message.is_agent:
            cause = message.number
        if message.has_error:
            yield message.number
            if cause is not None:
                yield cause


def _count(texts: Iterable[str | None], words: str) -> int:
    return sum(_normalize(text).count(words) for text in texts if text)


def _normalize(text: str) -> str:
    """Normalize a text for comparison: its case, accents and whitespace."""
    return re.sub(r"\s", " ", fold(text))


def _unfolded_index(folded_place: int, text: str) -> int:
    reached = 0
    for place, letter in enumerate(text):
        reached += len(fold(letter))
        if reached > folded_place:
            return place
    return len(text)


def _texts(message: ThreadMessage, words: str) -> Iterator[str | None]:
    """Yield the visible texts of a message. Markdown that can't contain the words is left out."""
    for part in message.parts:
        yield part.text if part.type else _markdown_shown(part.text or "", words)
    yield _markdown_shown(message.message.reasoning or "", words)
    for change in message.changes:
        yield change.matched.change.previous_value
        yield change.matched.change.new_value


def _markdown_shown(text: str, words: str) -> str:
    """Return the visible text of Markdown; empty if it can't contain the words.

    Most texts fail this check, which is much faster than rendering.
    """
    # Rendering removes marks, and may join letters around a link or an entity.
    letters = _normalize(_MARKS.sub("", text))
    may_show = _JOINING.search(text) or all(run in letters for run in _RUNS.findall(words))
    return visible_text(text) if text and may_show else ""


def _json_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
