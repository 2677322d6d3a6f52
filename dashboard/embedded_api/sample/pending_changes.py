"""Pending changes: some still apply, some were applied already, some are outdated."""

from random import Random
from typing import Any

from dashboard.embedded_api.sample.audiences import AudienceStory
from dashboard.embedded_api.sample.randomness import sample_id
from dashboard.embedded_api.serializers import effective_metadata

READY, APPLIED, MOVED = "ready", "applied", "moved"
"""The present text is the old one; the new one; neither."""


def change(key: object, previous: str, new: str) -> dict[str, Any]:
    """Return a change, which does not name its field."""
    return {"changeId": sample_id("chg", key), "previousValue": previous, "newValue": new}


def some_kinds(rng: Random) -> list[str]:
    """Return one to four random kinds."""
    return rng.choices((READY, APPLIED, MOVED), (5, 2, 2), k=rng.randint(1, 4))


def pending_changes(rng: Random, story: AudienceStory, kinds: list[str]) -> list[dict[str, Any]]:
    """Return a pending change of each kind, as far as there are texts to change."""
    texts = _current_texts(story)
    rng.shuffle(texts)
    before = {story.audience.supplementary_context: _context_before(story)}
    return [
        _pending((story.audience.pk, place), kind, text, before.get(text) or _shorter(text))
        for place, (kind, text) in enumerate(zip(kinds, texts, strict=False))
    ]


def _current_texts(story: AudienceStory) -> list[str]:
    """Return the present texts of the conversation's context."""
    metadata = effective_metadata(story.audience, story.audience.page)
    keywords = ", ".join(metadata.get("keywords") or [])
    texts = (
        story.audience.supplementary_context,
        metadata.get("title"),
        metadata.get("description"),
        keywords,
    )
    return [text for text in texts if text]


def _context_before(story: AudienceStory) -> str | None:
    """Return the supplementary context of the previous version."""
    return story.versions[-2].supplementary_context if len(story.versions) > 1 else None


def _pending(key: object, kind: str, current: str, earlier: str) -> dict[str, Any]:
    if kind == READY:
        return change(key, current, _improved(current))
    if kind == APPLIED:
        return change(key, earlier, current)
    return change(key, earlier, _improved(current))


def _improved(text: str) -> str:
    """Return a new text as an agent would propose it."""
    if "\n\n" in text:
        return text.replace("Lead with ", "Open with one number, then show ", 1)
    if ", " in text and len(text) < 80:
        return f"{text}, temperature alarms, payback"
    return f"{text.rstrip('.')}, first for the driver."


def _shorter(text: str) -> str:
    """Return the text without its last two words."""
    return " ".join(text.split()[:-2])
