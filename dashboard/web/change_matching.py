"""Whose field is it? A change of a conversation names none; what is true now tells, mostly.

Everything here is inferred, and says so on the screen. Source: DESIGN.md, What the dashboard
makes of the silences; the spec shows no more of a change than its old and its new text.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dashboard.contract.conversations import Change, Conversation, ConversationContext

MIN_EXCERPT = 12
"""Characters a text must have to be looked for inside a field: shorter ones are in anything."""


class ChangeState(StrEnum):
    """What is true now, seen from a change."""

    READY = "ready"
    APPLIED = "applied"
    MOVED = "moved"
    UNKNOWN = "unknown"
    """The context gives none of the fields, so there is nothing to compare with."""

    @property
    def label(self) -> str:
        """The state in words."""
        return _LABELS[self]


_LABELS = {
    ChangeState.READY: "Ready",
    ChangeState.APPLIED: "Already applied",
    ChangeState.MOVED: "Base has moved",
    ChangeState.UNKNOWN: "Nothing to compare with",
}


@dataclass(frozen=True)
class MatchedChange:
    """A change, and what we infer of it."""

    change: Change
    state: ChangeState
    fields: tuple[str, ...] = ()
    """The fields it may belong to: none, mostly one, several where they hold the same text."""
    is_part: bool = False
    """Whether the text is a part of the field, not all of it."""

    @property
    def field_label(self) -> str:
        """The fields in words, such as `meta title` or `part of supplementary context`."""
        return ("part of " if self.is_part else "") + " or ".join(self.fields)


def pending_changes(conversation: Conversation) -> list[MatchedChange]:
    """Return the changes that wait, in the service's order, each with what we infer of it."""
    context = conversation.context
    return [match_change(change, context) for change in conversation.pending_changes]


def count_states(changes: Iterable[MatchedChange]) -> dict[ChangeState, int]:
    """Return how many changes are in each state, none left out."""
    counted = Counter(change.state for change in changes)
    return {state: counted[state] for state in ChangeState}


def match_change(change: Change, context: ConversationContext) -> MatchedChange:
    """Return what the context's present texts make of a change.

    The clearest sign counts first: a whole field that is the old text, one that is the new text,
    then the new and the old text as parts of a field, and last a field that is empty as a text is.
    Blanks do not count, and a text not given is read as an empty one (our choice).
    """
    old, new = _plain(change.previous_value), _plain(change.new_value)
    current = _current_texts(context)
    if not current:
        return MatchedChange(change, ChangeState.UNKNOWN)
    whole_old, whole_new = _whole(old, current), _whole(new, current)
    part_old, part_new = _part(old, current), _part(new, current)
    nothing_to_do = old == new
    signs = (
        (bool(old) and not nothing_to_do, whole_old, ChangeState.READY, False),
        (bool(new), whole_new, ChangeState.APPLIED, False),
        (not part_old or old in new, part_new, ChangeState.APPLIED, True),
        (not nothing_to_do, part_old, ChangeState.READY, True),
        (not old and not nothing_to_do, whole_old, ChangeState.READY, False),
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


def _whole(text: str, current: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name, value in current.items() if value == text)


def _part(text: str, current: dict[str, str]) -> tuple[str, ...]:
    if len(text) < MIN_EXCERPT:
        return ()
    return tuple(name for name, value in current.items() if text in value)
