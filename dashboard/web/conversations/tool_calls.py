"""A tool call prepared for rendering, with its summary, readable pairs and size."""

import json
from collections.abc import Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.functional import cached_property

from dashboard.client.response_parsing import parse_json
from dashboard.contract.conversations import ToolCall
from dashboard.contract.resource import UnreadableValue
from dashboard.web.ui.formats import number
from dashboard.web.ui.highlighting import pretty_json

FETCHED_ABOVE = 4_000
"""If the call is larger, its fold is fetched when it is opened. In bytes."""
LARGE_ABOVE = 100_000
"""If the result is larger, only its head is shown, with a download of the whole. In bytes."""
HEAD_CHARACTERS = 2_000
MAX_PAIRS = 40
MAX_PATH = 32
MAX_LINE = 120


@dataclass(frozen=True)
class Pair:
    """A value inside arguments or a result, with its path, such as `replace.depots.0`."""

    path: str
    text: str
    is_word: bool = False
    """Whether the text describes the value, as "Empty text" does, instead of showing it."""


@dataclass(frozen=True)
class ThreadCall:
    """A tool call of a message. `index` counts from 1."""

    index: int
    call: ToolCall
    place: str
    """HTML id of the call."""
    unreadable: Sequence[UnreadableValue] = ()

    @cached_property
    def _raw(self) -> dict[str, Any]:
        """The unreadable fields as received."""
        return {
            str(value.location[0]): value.raw
            for value in self.unreadable
            if len(value.location) == 1
        }

    @property
    def name(self) -> str:
        return self.call.name or ""

    @property
    def label(self) -> str:
        is_unreadable = any(not value.location for value in self.unreadable)
        return self.name or ("Unreadable call" if is_unreadable else "Unnamed tool")

    @cached_property
    def arguments(self) -> Any:
        """The arguments. Text that is JSON is parsed."""
        raw = self._raw.get("arguments", self.call.arguments)
        with suppress(ValueError):
            return parse_json(raw) if isinstance(raw, str) else raw
        return raw

    @property
    def are_arguments_text(self) -> bool:
        return isinstance(self._raw.get("arguments"), str) and not isinstance(self.arguments, str)

    @property
    def result(self) -> Any:
        return self._raw.get("result", self.call.result)

    @property
    def error(self) -> Any:
        """The error: a text in the spec, but a service may send an object."""
        return self._raw.get("error", self.call.error)

    @property
    def error_text(self) -> str:
        return self.error if isinstance(self.error, str) else pretty_json(self.error)

    @property
    def not_shown(self) -> list[UnreadableValue]:
        """Unreadable values that nothing else in the call shows."""
        places = (("arguments",), ("result",), ("error",))
        return [value for value in self.unreadable if value.location not in places]

    @property
    def outcome(self) -> str:
        """`error`, `result`, or `none` if the service sent neither."""
        if self.error:
            return "error"
        has_result = "result" in self.call.model_fields_set or "result" in self._raw
        return "result" if has_result else "none"

    @property
    def summary(self) -> str:
        if self.error:
            return _line(self.error) if isinstance(self.error, str) else summarize(self.error)
        return summarize(self.result) if self.outcome == "result" else ""

    @cached_property
    def result_size(self) -> int:
        """Size of the result as JSON, in bytes."""
        return size_of(self.result)

    @property
    def is_large(self) -> bool:
        return self.result_size > LARGE_ABOVE

    @cached_property
    def total_size(self) -> int:
        """Size of arguments, result and error as JSON, in bytes."""
        return self.result_size + size_of(self.arguments) + size_of(self.error)

    @property
    def is_fetched(self) -> bool:
        return self.total_size > FETCHED_ABOVE

    @property
    def starts_open(self) -> bool:
        """Whether the fold starts open, so that an error is seen."""
        return self.outcome == "error" and not self.is_fetched

    @property
    def result_head(self) -> str:
        if isinstance(self.result, str):
            return self.result[:HEAD_CHARACTERS]
        # Encode incrementally, and only as much as is shown.
        pieces = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(self.result)
        return "".join(islice(pieces, HEAD_CHARACTERS))[:HEAD_CHARACTERS]


def size_of(value: Any) -> int:
    """Return the size of a value as compact JSON, in bytes."""
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
    """Return the values inside an object in order, each with its path.

    Returns none if the value is not an object. Also returns none if there are too many values or a
    path is too long, because JSON is easier to read then.
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
