"""Changes of a subscription by its form, and conflicts with changes made meanwhile.

A form carries the fields as they were when it was rendered (its base). Only changed fields are
sent; if the service has changed them meanwhile, nothing is sent, and the user sees both.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription


@dataclass(frozen=True)
class EditableFields:
    """The fields of a subscription that the form edits."""

    url: str
    events: tuple[str, ...] | None

    @classmethod
    def by(cls, subscription: WebhookSubscription) -> "EditableFields":
        """Return the fields of a subscription."""
        events = subscription.events
        return cls(subscription.url, None if events is None else tuple(events))

    @classmethod
    def read(cls, text: str) -> "EditableFields | None":
        """Parse the text of `written`; None if it is invalid."""
        try:
            data = json.loads(text)
            url, events = data["url"], data["events"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        is_valid = isinstance(url, str) and (events is None or _is_texts(events))
        return cls(url, None if events is None else tuple(events)) if is_valid else None

    def written(self) -> str:
        """Return the text for the form's hidden field."""
        return json.dumps({"url": self.url, "events": self.events})


@dataclass(frozen=True)
class FieldConflict:
    """A field that has changed at the service since the form was rendered."""

    name: str
    before: Any
    now: Any
    typed: Any
    """The value in the form."""
    is_edited: bool
    """Whether the user edited it too: the form shows the user's value."""


def changed_fields(base: EditableFields, wanted: EditableFields) -> dict[str, Any]:
    """Return the body to send: the changed fields alone; empty if none are."""
    changes: dict[str, Any] = {}
    if wanted.url != base.url:
        changes["url"] = wanted.url
    if wanted.events is not None and not _are_same(base.events, wanted.events):
        changes["events"] = list(wanted.events)
    return SubscriptionPatch(**changes).to_wire()


def serialize_body(body: dict[str, Any]) -> str:
    """Return a body as text, for the form's record of the previewed body."""
    return json.dumps(body)


def find_conflicts(
    base: EditableFields, wanted: EditableFields, now: EditableFields
) -> list[FieldConflict]:
    """Return the fields that differ at the service from `base`."""
    changes = changed_fields(base, wanted)
    conflicts = []
    if now.url != base.url:
        conflicts.append(FieldConflict("url", base.url, now.url, wanted.url, "url" in changes))
    if not _are_same(base.events, now.events):
        conflicts.append(
            FieldConflict("events", base.events, now.events, wanted.events, "events" in changes)
        )
    return conflicts


def merge_changes(
    base: EditableFields, wanted: EditableFields, now: EditableFields
) -> EditableFields:
    """Return the service's current fields, with the user's changes applied."""
    changes = changed_fields(base, wanted)
    if "url" in changes:
        now = replace(now, url=wanted.url)
    return replace(now, events=wanted.events) if "events" in changes else now


def differing_fields(body: dict[str, Any], response: WebhookSubscription) -> list[str]:
    """Return the fields of a 2xx response that differ from those sent."""
    now = response.to_wire()
    return [name for name, wanted in body.items() if now.get(name) != wanted]


def _are_same(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Return whether two lists have the same events; the spec gives their order no meaning."""
    if one is None or other is None:
        return one is other
    return set(one) == set(other)


def _is_texts(events: Any) -> bool:
    return isinstance(events, list) and all(isinstance(name, str) for name in events)
