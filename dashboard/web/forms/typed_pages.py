"""What is typed of a page to be created, right or wrong: read, filled, kept and begun."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.contract.pages import PageType
from dashboard.web.forms.page_parts import BasicsForm, MetadataForm
from dashboard.web.forms.parts import (
    Typed,
    as_data,
    is_empty,
    read_typed,
    typed_from_wire,
    without_blank_rows,
)


@dataclass
class TypedPage:
    """Everything typed of a page to be created."""

    basics: Typed
    metadata: Typed


def typed_page(data: Mapping[str, Any]) -> TypedPage:
    """Return what a submitted form holds."""
    return TypedPage(read_typed(BasicsForm, data), read_typed(MetadataForm, data, "metadata"))


def typed_page_like(wire: Mapping[str, Any]) -> TypedPage:
    """Return a form filled from the JSON of a page."""
    metadata = typed_from_wire(MetadataForm, wire.get("metadata") or {})
    return TypedPage(typed_from_wire(BasicsForm, wire), metadata)


def as_submitted(typed: TypedPage) -> dict[str, str]:
    """Return a form as a browser would submit it: what `typed_page` reads."""
    basics = as_data(BasicsForm, typed.basics)
    return basics | as_data(MetadataForm, typed.metadata, "metadata")


def is_blank(typed: TypedPage) -> bool:
    """Tell whether nothing was typed: what a new form brings along does not count."""
    brought = dict.fromkeys(new_page(brand_id="").basics.fields, "")
    basics = Typed(typed.basics.fields | brought, typed.basics.rows)
    return is_empty(BasicsForm, without_blank_rows(BasicsForm, basics)) and is_empty(
        MetadataForm, typed.metadata
    )


def new_page(*, brand_id: str) -> TypedPage:
    """Return the form of a page of which nothing is typed yet, with one action begun."""
    fields = {"page_type": PageType.INBOUND.value, "brand_id": brand_id}
    return TypedPage(Typed(fields, {"actions": [Typed()]}), Typed())
