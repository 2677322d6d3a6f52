"""Infer the field and the state of a change.

A change holds only its old and new text (spec). The best evidence for its field is the tool call
that made it. The current texts come second. An empty text is no evidence. The page marks the
result as inferred. Source: our choice.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices

from dashboard.contract.conversations import Change, ConversationContext
from dashboard.contract.resource import UnreadableValue
from dashboard.web.conversations.tool_calls import ThreadCall

MIN_EXCERPT = 12
"""Minimum length of a text to search for within a field, as shorter texts match too much."""
SAMPLE, SAMPLES_APART = 7, 6
"""In characters. Any excerpt of MIN_EXCERPT characters contains a complete sample."""
MAX_NAME = 40
"""Maximum length of a text that may name a field, in characters."""


class ChangeState(TextChoices):
    """State of a change compared with the current texts, with its label."""

    READY = "ready", "Ready"
    APPLIED = "applied", "Applied"
    MOVED = "moved", "Original text changed"
    UNKNOWN = "unknown", "Can’t compare"
    """There is nothing to compare: the context or the change has no text."""


SUPPLEMENTARY_CONTEXT, PAGE_CONTEXT = "supplementary context", "page context"
META_TITLE, META_DESCRIPTION = "meta title", "meta description"
META_KEYWORDS = "meta keywords"
FIELDS = (SUPPLEMENTARY_CONTEXT, META_TITLE, META_DESCRIPTION, META_KEYWORDS, PAGE_CONTEXT)
_SHORT_NAMES = {"title": META_TITLE, "description": META_DESCRIPTION, "keywords": META_KEYWORDS}
"""Short names of fields in the arguments of a tool."""


@dataclass(frozen=True)
class MatchedChange:
    change: Change
    state: ChangeState
    fields: tuple[str, ...] = ()
    """Fields that the change may belong to; several if they have the same text."""
    is_part: bool = False
    unreadable: Sequence[UnreadableValue] = ()

    @property
    def field_label(self) -> str:
        """The label of the fields, such as `meta title` or `part of supplementary context`."""
        return ("part of " if self.is_part else "") + " or ".join(self.fields)


class CurrentTexts:
    """The current texts of the fields, each normalized and indexed once for all changes."""

    def __init__(self, context: ConversationContext) -> None:
        texts = {
            SUPPLEMENTARY_CONTEXT: context.current_supplementary_context,
            META_TITLE: context.current_meta_title,
            META_DESCRIPTION: context.current_meta_description,
            META_KEYWORDS: context.current_meta_keywords,
            PAGE_CONTEXT: context.page_context,
        }
        is_empty = all(text is None for text in texts.values())
        self._texts = {} if is_empty else {name: _plain(text) for name, text in texts.items()}
        self._samples: dict[str, set[str]] = {}

    def fields(self, written: str) -> tuple[str, ...]:
        """Return the fields to compare: the one that a tool wrote, or all if it is unknown."""
        return (written,) if written in self._texts else tuple(self._texts)

    def equal(self, text: str, fields: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in fields if self._texts[name] == text)

    def containing(self, text: str, fields: Iterable[str]) -> tuple[str, ...]:
        if len(text) < MIN_EXCERPT:
            return ()
        return tuple(name for name in fields if self._contains(name, text))

    def _contains(self, name: str, text: str) -> bool:
        whole = self._texts[name]
        if name not in self._samples:
            starts = range(0, len(whole), SAMPLES_APART)
            self._samples[name] = {whole[start : start + SAMPLE] for start in starts}
        samples = self._samples[name]
        # If the field contains the text, the samples within the text start at one of these offsets.
        # Searching a megabyte for each of a thousand texts without samples would take seconds.
        may_contain = any(
            all(
                text[start : start + SAMPLE] in samples
                for start in range(first, len(text) - SAMPLE + 1, SAMPLES_APART)
            )
            for first in range(SAMPLES_APART)
        )
        return may_contain and text in whole


class CallTexts:
    """The fields that a message's tool calls name, read once for all changes of the message."""

    def __init__(self, calls: Sequence[ThreadCall]) -> None:
        self._calls_with: defaultdict[str, set[int]] = defaultdict(set)
        """Numbers of the calls that have a text in their arguments or result, by text."""
        self._by_argument: defaultdict[str, set[str]] = defaultdict(set)
        self._by_name = [{_field_of(call.name)} - {""} for call in calls]
        self._by_value: list[set[str]] = []
        for number, call in enumerate(calls):
            arguments = list(_texts(call.arguments))
            for key, text in arguments:
                self._by_argument[text] |= {_field_of(key, is_key=True)} - {""}
            for _, text in (*arguments, *_texts(call.result)):
                self._calls_with[text].add(number)
            values = [text for _, text in arguments if len(text) <= MAX_NAME]
            self._by_value.append({_field_of(value, is_key=True) for value in values} - {""})
        self._of_all = self._fields(range(len(calls)))

    def written_field(self, change: Change) -> str:
        """Return the field that the calls changed; empty if they name none or several."""
        marks = [mark for mark in (change.new_value, change.change_id) if mark]
        related = set[int]().union(*(self._calls_with.get(mark, ()) for mark in marks))
        by_argument = self._by_argument.get(change.new_value, set()) if change.new_value else set()
        for fields in (by_argument, *(self._fields(related) if related else self._of_all)):
            if fields:
                return next(iter(fields)) if len(fields) == 1 else ""
        return ""

    def _fields(self, calls: Iterable[int]) -> tuple[set[str], set[str]]:
        """Return the fields in the names of the tools, and the fields in values of arguments."""
        numbers = list(calls)
        by_name = set[str]().union(*(self._by_name[number] for number in numbers))
        return by_name, set[str]().union(*(self._by_value[number] for number in numbers))


NO_CALLS = CallTexts(())


def match_change(
    change: Change,
    current: CurrentTexts,
    *,
    calls: CallTexts = NO_CALLS,
    unreadable: Sequence[UnreadableValue] = (),
) -> MatchedChange:
    """Infer the state and the fields of a change from its tool calls and the context.

    The signs are tried from the clearest on: a field equals the old text, equals the new text,
    contains the new text, contains the old text. An empty text is a sign only if the tool names
    the field. Whitespace is ignored, and a missing text counts as empty. Source: our choice.
    """
    written = calls.written_field(change)
    fields = (written,) if written else ()
    old, new = _plain(change.previous_value), _plain(change.new_value)
    compared = current.fields(written)
    if unreadable or not compared:
        return MatchedChange(change, ChangeState.UNKNOWN, fields, unreadable=unreadable)
    whole_old, whole_new = current.equal(old, compared), current.equal(new, compared)
    part_old, part_new = current.containing(old, compared), current.containing(new, compared)
    is_same = old == new
    signs = (
        (bool(old or written) and not is_same, whole_old, ChangeState.READY, False),
        (bool(new or written), whole_new, ChangeState.APPLIED, False),
        (not part_old or old in new, part_new, ChangeState.APPLIED, True),
        (not is_same, part_old, ChangeState.READY, True),
    )
    for counts, matches, state, is_part in signs:
        if counts and matches:
            return MatchedChange(change, state, matches, is_part)
    proves_nothing = not old and not written
    return MatchedChange(
        change, ChangeState.UNKNOWN if proves_nothing else ChangeState.MOVED, fields
    )


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts inside a JSON value, each with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)


def _field_of(name: str, *, is_key: bool = False) -> str:
    """Return the field that the name of a tool or an argument contains; empty if none or several.

    `is_key` also accepts the short names.
    """
    letters = re.sub(r"[^a-z]", "", name.lower())
    matches = [field for field in FIELDS if field.replace(" ", "") in letters]
    if len(matches) == 1:
        return matches[0]
    return _SHORT_NAMES.get(letters, "") if is_key and not matches else ""


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
