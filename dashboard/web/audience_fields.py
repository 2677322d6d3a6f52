"""The fields of an audience that override something, each beside what it overrides.

How an override and an effective value come together is not shown in the spec: both are given
as sent, and nothing is worked out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard.contract.audiences import Audience
from dashboard.contract.metadata import Metadata
from dashboard.contract.pages import Action, PageItem
from dashboard.contract.wire import WireModel
from dashboard.web.metadata_fields import FIELDS

ADDRESS = "action_url_override"
OVERRIDES = (
    ADDRESS,
    "action_form_instructions_override",
    "action_form_id_override",
)


class Sent(StrEnum):
    """What came in the place of a field."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    VALUE = "value"


@dataclass(frozen=True)
class Field:
    """A field as it came."""

    sent: Sent
    value: Any = None

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.value, list)


@dataclass(frozen=True)
class OverrideRow:
    """One override, by its name on the wire."""

    name: str
    here: Field
    on_the_page: tuple[Action, ...]
    """The page's own buttons, for the override of a button's address."""
    is_address: bool


@dataclass(frozen=True)
class MetadataRow:
    """One metadata field, by its name on the wire."""

    name: str
    override: Field
    effective: Field

    @property
    def is_set(self) -> bool:
        """Whether the audience sets it, be it to an empty text."""
        return self.override.sent in (Sent.VALUE, Sent.EMPTY)

    @property
    def is_same(self) -> bool:
        """Whether both came alike."""
        return self.override == self.effective

    @property
    def differs(self) -> bool:
        """Whether it is set here, and yet something else is in effect."""
        return self.is_set and not self.is_same


def field_of(model: WireModel | None, name: str) -> Field:
    """Return a field as it came: null, empty and absent are three things."""
    if model is None or name not in model.model_fields_set | (model.model_extra or {}).keys():
        return Field(Sent.ABSENT)
    value = getattr(model, name)
    if value is None:
        return Field(Sent.NULL)
    return Field(Sent.EMPTY, value) if value in ("", [], {}) else Field(Sent.VALUE, value)


def override_rows(audience: Audience, page: PageItem | None) -> list[OverrideRow]:
    """Return the three overrides; of a page's fields only the buttons' addresses are alike."""
    return [
        OverrideRow(
            name=_name_on_the_wire(audience, name),
            here=field_of(audience, name),
            on_the_page=tuple(_buttons(page)) if page and name == ADDRESS else (),
            is_address=name == ADDRESS,
        )
        for name in OVERRIDES
    ]


def metadata_rows(audience: Audience) -> list[MetadataRow]:
    """Return the 21 metadata fields of the spec, and whatever else the service sent with them."""
    override, effective = audience.metadata_override, audience.effective_metadata
    extra = {**(override.model_extra or {} if override else {})}
    extra |= effective.model_extra or {} if effective else {}
    names = {field.alias or name: name for name, field in Metadata.model_fields.items()}
    in_order = {alias: names[alias] for alias in FIELDS} | {name: name for name in extra}
    return [
        MetadataRow(alias, field_of(override, name), field_of(effective, name))
        for alias, name in in_order.items()
    ]


def _buttons(page: PageItem) -> Iterator[Action]:
    """Yield the header's button first, then the others that have an address."""
    with_address = [action for action in page.actions if action.url]
    yield from (a for a in with_address if a.action_id == page.header_action_id)
    yield from (a for a in with_address if a.action_id != page.header_action_id)


def _name_on_the_wire(model: WireModel, name: str) -> str:
    return type(model).model_fields[name].alias or name
