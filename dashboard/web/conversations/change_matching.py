"""Infer the field and the state of a change, which names no field, from the current texts.

The page marks all of it as inferred. Source: DESIGN.md, What the dashboard makes of the silences;
the spec shows only the old and the new text of a change.
"""

from dataclasses import dataclass

from django.db.models import TextChoices

from dashboard.contract.conversations import Change, ConversationContext

MIN_EXCERPT = 12
"""The minimum length of a text to search for within a field: shorter ones match anything."""


class ChangeState(TextChoices):
    """The state of a change, compared with the current texts, and its label."""

    READY = "ready", "Ready"
    APPLIED = "applied", "Applied"
    MOVED = "moved", "Original text changed"
    UNKNOWN = "unknown", "Can’t compare"
    """The context has none of the fields, so there is nothing to compare with."""


@dataclass(frozen=True)
class MatchedChange:
    """A change, with its inferred state and fields."""

    change: Change
    state: ChangeState
    fields: tuple[str, ...] = ()
    """The fields it may belong to; several if they have the same text."""
    is_part: bool = False
    """Whether the text is only a part of the field."""

    @property
    def field_label(self) -> str:
        """The label of the fields, such as `meta title` or `part of supplementary context`."""
        return ("part of " if self.is_part else "") + " or ".join(self.fields)


def match_change(change: Change, context: ConversationContext) -> MatchedChange:
    """Infer the state and the fields of a change from the context's current texts.

    The clearest sign comes first: a field equal to the old text, one equal to the new text, then
    fields that contain the new or the old text, and last an empty field for an empty text.
    Whitespace does not count, and a missing text counts as empty (our choice).
    """
    old, new = _plain(change.previous_value), _plain(change.new_value)
    current = _current_texts(context)
    if not current:
        return MatchedChange(change, ChangeState.UNKNOWN)
    whole_old, whole_new = _equal(old, current), _equal(new, current)
    part_old, part_new = _containing(old, current), _containing(new, current)
    is_same = old == new
    signs = (
        (bool(old) and not is_same, whole_old, ChangeState.READY, False),
        (bool(new), whole_new, ChangeState.APPLIED, False),
        (not part_old or old in new, part_new, ChangeState.APPLIED, True),
        (not is_same, part_old, ChangeState.READY, True),
        (not old and not is_same, whole_old, ChangeState.READY, False),
        (not new and len(whole_new) == 1, whole_new, ChangeState.APPLIED, False),
    )
    for counts, fields, state, is_part in signs:
        if counts and fields:
            return MatchedChange(change, state, fields, is_part)
    return MatchedChange(change, ChangeState.MOVED)


def _current_texts(context: ConversationContext) -> dict[str, str]:
    given = {
        "supplementary context": context.current_supplementary_context,
        "meta title": context.current_meta_title,
        "meta description": context.current_meta_description,
        "meta keywords": context.current_meta_keywords,
        "page context": context.page_context,
    }
    if all(text is None for text in given.values()):
        return {}
    return {name: _plain(text) for name, text in given.items()}


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())


def _equal(text: str, current: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name, value in current.items() if value == text)


def _containing(text: str, current: dict[str, str]) -> tuple[str, ...]:
    if len(text) < MIN_EXCERPT:
        return ()
    return tuple(name for name, value in current.items() if text in value)
