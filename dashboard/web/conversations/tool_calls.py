"""A tool call prepared for rendering: its summary, readable pairs and size."""

import json
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from dashboard.contract.conversations import ToolCall
from dashboard.web.ui.locale_format import number

FETCHED_ABOVE = 4_000
"""Bytes of arguments and result above which a fold is fetched only when opened."""
LARGE_ABOVE = 100_000
"""Bytes of a result above which only its head is shown, and the whole can be downloaded."""
HEAD_CHARACTERS = 2_000
MAX_PAIRS = 40
MAX_PATH = 32
MAX_LINE = 120


@dataclass(frozen=True)
class Pair:
    """One value inside arguments or a result, by its path, such as `replace.depots.0`."""

    path: str
    text: str
    is_word: bool = False
    """Whether the text is a description such as "Empty text", and not the value."""


@dataclass(frozen=True)
class ShownCall:
    """A tool call of a message; `index` counts from 1."""

    index: int
    call: ToolCall
    place: str
    """Its HTML id."""

    @property
    def outcome(self) -> str:
        """The outcome of the call: `error`, `result`, or `none` if neither was sent."""
        if self.call.error:
            return "error"
        return "result" if "result" in self.call.model_fields_set else "none"

    @property
    def summary(self) -> str:
        """The result or the error in one line."""
        if self.call.error:
            return _line(self.call.error)
        return summarize(self.call.result) if self.outcome == "result" else ""

    @cached_property
    def result_size(self) -> int:
        """Bytes of the result as JSON."""
        return size_of(self.call.result)

    @property
    def is_large(self) -> bool:
        """Whether only the head of the result is shown."""
        return self.result_size > LARGE_ABOVE

    @cached_property
    def total_size(self) -> int:
        """Bytes of arguments, result and error."""
        return self.result_size + size_of(self.call.arguments) + len(self.call.error or "")

    @property
    def is_fetched(self) -> bool:
        """Whether the content is fetched when the fold is opened."""
        return self.total_size > FETCHED_ABOVE

    @property
    def starts_open(self) -> bool:
        """Whether it is open at first, as an error should be seen."""
        return self.outcome == "error" and not self.is_fetched

    @property
    def result_head(self) -> str:
        """The first characters of the result: of a text, or of its JSON."""
        if isinstance(self.call.result, str):
            return self.call.result[:HEAD_CHARACTERS]
        # Encode incrementally, no further than shown.
        pieces = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(self.call.result)
        return "".join(islice(pieces, HEAD_CHARACTERS))[:HEAD_CHARACTERS]


def size_of(value: Any) -> int:
    """Return the bytes of a value as compact JSON."""
    return len(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    )


def summarize(value: Any) -> str:
    """Summarize a result in one line: a count and the first item."""
    if isinstance(value, list) and value:
        return f"{_counted(value, 'item')}, first: {_line(_word(value[0]))}"
    if isinstance(value, dict) and value:
        key, first = next(iter(value.items()))
        more = f" (and {number(len(value) - 1)} more)" if len(value) > 1 else ""
        return _line(f"{key}: {_line(_word(first))}") + more
    return _line(_word(value))


def readable_pairs(value: Any) -> list[Pair]:
    """Return the values inside an object, in order, each with its path.

    Empty if the value is not an object, has too many values or too long paths: its JSON is easier
    to read then.
    """
    if not isinstance(value, dict):
        return []
    pairs: list[Pair] = []
    for path, leaf in _leaves(value):
        if len(pairs) == MAX_PAIRS or len(path) > MAX_PATH:
            return []
        pairs.append(Pair(path, _word(leaf), is_word=leaf in (None, "", [], {})))
    return pairs


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if not value or not isinstance(value, dict | list):
        yield path, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield from _leaves(inner, f"{path}.{key}" if path else str(key))


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value or "Empty text"
    if isinstance(value, list):
        return _counted(value, "item") if value else "Empty list"
    if isinstance(value, dict):
        return _counted(value, "field") if value else "Empty object"
    return json.dumps(value)


def _counted(values: Sized, noun: str) -> str:
    return f"{number(len(values))} {noun}{'' if len(values) == 1 else 's'}"


def _line(text: str) -> str:
    line = " ".join(text[: MAX_LINE * 4].split())
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"
