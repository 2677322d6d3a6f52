"""Changes of a subscription by its form, and conflicts with changes made meanwhile.

A form carries the fields as they were when it was rendered (its base). Only changed fields are
sent; if the service has changed them meanwhile, nothing is sent, and the user sees both.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.models import SubscriptionRecord
from dashboard.service.subscriptions import parse_subscription


class EditableFields(BaseModel, frozen=True):
    """The fields of a subscription that the form edits; a hidden field has them as JSON."""

    url: str
    events: tuple[str, ...] | None

    @classmethod
    def of(cls, record: SubscriptionRecord) -> "EditableFields":
        """Return the fields last seen; without events if the record can't be parsed."""
        subscription = parse_subscription(record)
        if subscription is None:
            return cls(url=record.url, events=None)
        return cls.model_validate(subscription, from_attributes=True)

    @classmethod
    def read(cls, text: str) -> "EditableFields | None":
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


@dataclass(frozen=True)
class FieldConflict:
    name: str
    before: Any
    now: Any
    entered: Any
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


def find_conflicts(
    base: EditableFields, wanted: EditableFields, now: EditableFields
) -> list[FieldConflict]:
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
    changes = changed_fields(base, wanted)
    return EditableFields(
        url=wanted.url if "url" in changes else now.url,
        events=wanted.events if "events" in changes else now.events,
    )


def _are_same(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Return whether two lists have the same events; the spec gives their order no meaning."""
    if one is None or other is None:
        return one is other
    return set(one) == set(other)
