"""What a message says: its content and its content parts, each text once."""

from dataclasses import dataclass, field
from typing import Any

from dashboard.contract.conversations import Message

TEXT_PARTS = ("text", None)
"""Types of content parts that are markdown; any other is shown as text under its own name."""


@dataclass(frozen=True)
class ShownPart:
    """A part of what a message says. `type` is None for plain text or a type not given."""

    text: str | None
    type: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Fields of the part that the spec does not know."""


def shown_parts(message: Message) -> list[ShownPart]:
    """Return what a message says, each text once: `content` mostly repeats its parts."""
    parts = [
        ShownPart(part.text, None if part.type in TEXT_PARTS else part.type, part.model_extra or {})
        for part in message.content_parts or []
        if part.type in TEXT_PARTS or not _says(message.reasoning, part.text)
    ]
    parts = [part for part in parts if part.text or part.type or part.more]
    content = message.content
    if not content or _says("".join(part.text or "" for part in parts), content):
        return parts
    more = [part for part in parts if part.type or not _says(content, part.text)]
    return [ShownPart(content), *more]


def _says(whole: str | None, part: str | None) -> bool:
    """Tell whether a text holds another, blanks aside; an empty one is in none."""
    needle = "".join((part or "").split())
    return bool(needle) and needle in "".join((whole or "").split())
