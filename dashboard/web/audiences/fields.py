"""Overrides of an audience, each beside the effective value.

The spec does not show how overrides and effective values combine, so both are shown as sent.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic.alias_generators import to_camel

from dashboard.contract.audiences import Audience
from dashboard.contract.metadata import FIELDS, Metadata
from dashboard.contract.pages import Action, PageItem
from dashboard.contract.wire import WireModel

OVERRIDES = (
    "action_url_override",
    "action_form_instructions_override",
    "action_form_id_override",
)


class FieldState(StrEnum):
    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    VALUE = "value"


@dataclass(frozen=True)
class Field:
    sent: FieldState
    value: Any = None

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)


@dataclass(frozen=True)
class MetadataRow:
    name: str
    override: Field
    effective: Field

    @property
    def is_set(self) -> bool:
        """Whether the audience sets the field, possibly to an empty value."""
        return self.override.sent in (FieldState.VALUE, FieldState.EMPTY)

    @property
    def is_returned(self) -> bool:
        return {self.override.sent, self.effective.sent} != {FieldState.ABSENT}

    @property
    def is_same(self) -> bool:
        return self.override == self.effective

    @property
    def differs(self) -> bool:
        """Whether the audience sets the field but another value is in effect."""
        return self.is_set and not self.is_same


def field_of(model: WireModel | None, name: str) -> Field:
    """Return a field as sent. Null, empty and absent are distinguished."""
    if model is None or name not in model.model_fields_set | (model.model_extra or {}).keys():
        return Field(FieldState.ABSENT)
    value = getattr(model, name)
    if value is None:
        return Field(FieldState.NULL)
    return (
        Field(FieldState.EMPTY, value) if value in ("", [], {}) else Field(FieldState.VALUE, value)
    )


def overrides_of(audience: Audience) -> dict[str, Field]:
    """Return the overrides that the service returned, by their names on the wire."""
    fields = {to_camel(name): field_of(audience, name) for name in OVERRIDES}
    return {name: field for name, field in fields.items() if field.sent != FieldState.ABSENT}


def linked_actions(page: PageItem) -> list[Action]:
    """Return the actions with a URL, the header's action first."""
    actions = [action for action in page.actions if action.url]
    return sorted(actions, key=lambda action: action.action_id != page.header_action_id)


def metadata_rows(audience: Audience) -> list[MetadataRow]:
    """Return the 21 metadata fields of the spec, and any others that were sent."""
    override, effective = audience.metadata_override, audience.effective_metadata
    extra = {**(override.model_extra or {} if override else {})}
    extra |= effective.model_extra or {} if effective else {}
    names = {field.alias or name: name for name, field in Metadata.model_fields.items()}
    in_order = {alias: names[alias] for alias in FIELDS} | {name: name for name in extra}
    return [
        MetadataRow(alias, field_of(override, name), field_of(effective, name))
        for alias, name in in_order.items()
    ]


def not_returned(audience: Audience, rows: list[MetadataRow]) -> list[str]:
    """Return the API names of the fields that the service did not return."""
    fields = [
        field.alias or name
        for name, field in Audience.model_fields.items()
        if name not in audience.model_fields_set
    ]
    return [*fields, *(row.name for row in rows if not row.is_returned)]
