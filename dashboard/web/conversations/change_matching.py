"""Infer the field and the state of a change, which names no field.

The tool that made it is the best evidence, the current texts come second, and an empty text is
none. The page marks all of it as inferred. Source: DESIGN.md, What the dashboard makes of the
silences; the spec shows only the old and the new text of a change.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices

from dashboard.contract.conversations import Change, ConversationContext
from dashboard.contract.resource import UnreadableValue
from dashboard.web.conversations.tool_calls import ShownCall

MIN_EXCERPT = 12
"""The minimum length of a text to search for within a field: shorter ones match anything."""
MAX_NAME = 40
"""Characters of a text that may be a field's name."""


class ChangeState(TextChoices):
    """The state of a change, compared with the current texts, and its label."""

    READY = "ready", "Ready"
    APPLIED = "applied", "Applied"
    MOVED = "moved", "Original text changed"
    UNKNOWN = "unknown", "Can’t compare"
    """There is nothing to compare: no text of the context, or no text of the change."""


SUPPLEMENTARY_CONTEXT, PAGE_CONTEXT = "supplementary context", "page context"
META_TITLE, META_DESCRIPTION = "meta title", "meta description"
META_KEYWORDS = "meta keywords"
FIELDS = (SUPPLEMENTARY_CONTEXT, META_TITLE, META_DESCRIPTION, META_KEYWORDS, PAGE_CONTEXT)
_SHORT_NAMES = {"title": META_TITLE, "description": META_DESCRIPTION, "keywords": META_KEYWORDS}
"""What an argument may be called that holds the field."""


@dataclass(frozen=True)
class MatchedChange:
    """A change, with its inferred state and fields."""

    change: Change
    state: ChangeState
    fields: tuple[str, ...] = ()
    """The fields it may belong to; several if they have the same text."""
    is_part: bool = False
    """Whether the text is only a part of the field."""
    unreadable: Sequence[UnreadableValue] = ()
    """What could not be read in it."""

    @property
    def field_label(self) -> str:
        """The label of the fields, such as `meta title` or `part of supplementary context`."""
        return ("part of " if self.is_part else "") + " or ".join(self.fields)


def match_change(
    change: Change,
    context: ConversationContext,
    *,
    calls: Sequence[ShownCall] = (),
    unreadable: Sequence[UnreadableValue] = (),
) -> MatchedChange:
    """Infer the state and the fields of a change from the tool calls beside it and the context.

    Of the fields that the tool may have written, the clearest sign comes first: one equal to the
    old text, one equal to the new text, then those that contain the new or the old text. An empty
    text is a sign only if the tool names the field. Whitespace does not count, and a missing text
    counts as empty (our choice).
    """
    written = _written_field(change, calls)
    fields = (written,) if written else ()
    old, new = _plain(change.previous_value), _plain(change.new_value)
    current = _current_texts(context)
    if written in current:
        current = {written: current[written]}
    if unreadable or not current:
        return MatchedChange(change, ChangeState.UNKNOWN, fields, unreadable=unreadable)
    whole_old, whole_new = _equal(old, current), _equal(new, current)
    part_old, part_new = _containing(old, current), _containing(new, current)
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


def _written_field(change: Change, calls: Sequence[ShownCall]) -> str:
    """Return the one field that the calls say they changed; empty if they name none or several."""
    related = [call for call in calls if _is_related(call, change)] or calls
    by_argument = {
        field
        for call in related
        for key, text in _texts(call.arguments)
        if change.new_value and text == change.new_value and (field := _field_of(key, is_key=True))
    }
    by_name = {field for call in related if (field := _field_of(call.name))}
    by_value = {
        field for call in related for _, text in _texts(call.arguments) if (field := _named(text))
    }
    for fields in (by_argument, by_name, by_value):
        if fields:
            return next(iter(fields)) if len(fields) == 1 else ""
    return ""


def _is_related(call: ShownCall, change: Change) -> bool:
    """Whether a call's arguments or result mention the change's new text or its id."""
    marks = {mark for mark in (change.new_value, change.change_id) if mark}
    texts = (*_texts(call.arguments), *_texts(call.result))
    return any(text in marks for _, text in texts)


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts inside a JSON value, each with the name it has."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)


def _field_of(name: str, *, is_key: bool = False) -> str:
    """Return the field that a tool's or an argument's name contains; empty if there is none."""
    letters = re.sub(r"[^a-z]", "", name.lower())
    matches = [field for field in FIELDS if field.replace(" ", "") in letters]
    if len(matches) == 1:
        return matches[0]
    return _SHORT_NAMES.get(letters, "") if is_key and not matches else ""


def _named(text: str) -> str:
    """Return the field whose name a text is, such as `metaTitle`."""
    return _field_of(text, is_key=True) if len(text) <= MAX_NAME else ""


def _current_texts(context: ConversationContext) -> dict[str, str]:
    texts = {
        SUPPLEMENTARY_CONTEXT: context.current_supplementary_context,
        META_TITLE: context.current_meta_title,
        META_DESCRIPTION: context.current_meta_description,
        META_KEYWORDS: context.current_meta_keywords,
        PAGE_CONTEXT: context.page_context,
    }
    if all(text is None for text in texts.values()):
        return {}
    return {name: _plain(text) for name, text in texts.items()}


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())


def _equal(text: str, current: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name, value in current.items() if value == text)


def _containing(text: str, current: dict[str, str]) -> tuple[str, ...]:
    if len(text) < MIN_EXCERPT:
        return ()
    return tuple(name for name, value in current.items() if text in value)
