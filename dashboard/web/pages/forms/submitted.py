"""Everything typed into "Create page", valid or not: parse, fill, serialize."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.contract.pages import PageType
from dashboard.web.pages.forms.nested import (
    SubmittedData,
    as_data,
    is_empty,
    read_typed,
    typed_from_wire,
    without_blank_rows,
)
from dashboard.web.pages.forms.sections import BasicsForm, MetadataForm


@dataclass
class TypedPage:
    """The typed text of the whole form."""

    basics: SubmittedData
    metadata: SubmittedData


def typed_page(data: Mapping[str, Any]) -> TypedPage:
    """Parse a submitted form."""
    return TypedPage(read_typed(BasicsForm, data), read_typed(MetadataForm, data, "metadata"))


def typed_page_like(wire: Mapping[str, Any]) -> TypedPage:
    """Return a form filled from the JSON of a page."""
    metadata = typed_from_wire(MetadataForm, wire.get("metadata") or {})
    return TypedPage(typed_from_wire(BasicsForm, wire), metadata)


def as_submitted(typed: TypedPage) -> dict[str, str]:
    """Return the form as a browser would submit it; the inverse of `typed_page`."""
    basics = as_data(BasicsForm, typed.basics)
    return basics | as_data(MetadataForm, typed.metadata, "metadata")


def is_blank(typed: TypedPage) -> bool:
    """Return whether nothing was typed; the initial values of a new form do not count."""
    initial = dict.fromkeys(new_page(brand_id="").basics.fields, "")
    basics = SubmittedData(typed.basics.fields | initial, typed.basics.rows)
    return is_empty(BasicsForm, without_blank_rows(BasicsForm, basics)) and is_empty(
        MetadataForm, typed.metadata
    )


def new_page(*, brand_id: str) -> TypedPage:
    """Return a new form, with one blank action."""
    fields = {"page_type": PageType.INBOUND.value, "brand_id": brand_id}
    return TypedPage(SubmittedData(fields, {"actions": [SubmittedData()]}), SubmittedData())
