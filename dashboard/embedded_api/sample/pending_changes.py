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


def pending_changes(rng: Random, story: AudienceStory, kinds: list[str]) -> list[dict[str, Any]]:
    """Return a pending change of each kind, as far as there are texts to change."""
    audience, versions = story.audience, story.versions
    metadata = effective_metadata(audience, audience.page)
    present = (
        audience.supplementary_context,
        metadata.get("title"),
        metadata.get("description"),
        ", ".join(metadata.get("keywords") or []),
    )
    texts = [text for text in present if text]
    rng.shuffle(texts)
    changes = []
    for place, (kind, text) in enumerate(zip(kinds, texts, strict=False)):
        is_context = text == audience.supplementary_context and len(versions) > 1
        earlier = versions[-2].supplementary_context if is_context else None
        old = text if kind == READY else earlier or " ".join(text.split()[:-2])
        new = text if kind == APPLIED else _improved(text)
        changes.append(change((audience.pk, place), old, new))
    return changes


def _improved(text: str) -> str:
    """Return a new text as an agent would propose it."""
    if "\n\n" in text:
        return text.replace("Lead with ", "Open with one number, then show ", 1)
    if ", " in text and len(text) < 80:
        return f"{text}, temperature alarms, payback"
    return f"{text.rstrip('.')}, first for the driver."
