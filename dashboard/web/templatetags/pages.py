"""Tags of the templates under pages/."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.contract.pages import PageItem
from dashboard.web.highlighting import highlight_source, pretty_json
from dashboard.web.metadata_fields import MetadataField
from dashboard.web.page_parts import language_of
from dashboard.web.templatetags.pressroom import STATUSES

register = template.Library()


@register.filter
def page_status(value: str) -> str:
    """Name a status of a page; one we do not know keeps its own name."""
    word, _, _ = STATUSES.get(value, (value, "", ""))
    return "not in the list answer" if value == "none" else word


STANDING_NAMES = {
    "live": "Something live",
    "not-live": "Nothing live",
    "changed": "Changed since publish",
    "in-flight": "In flight",
}


@register.filter
def standing(value: str) -> str:
    """Name how an audience stands."""
    return STANDING_NAMES[value]


@register.filter
def at_key(found: Mapping[str, Any], key: str) -> Any:
    """Return what a mapping has for a key, or None."""
    return found.get(key)


@register.filter
def footer_link_count(page: PageItem) -> int:
    """Count the links of all footer groups."""
    return sum(len(group.links or []) for group in page.footer_links or [])


@register.filter
def count_set(fields: list[MetadataField]) -> int:
    """Count the metadata fields that hold anything."""
    return sum(field.is_set for field in fields)


@register.filter
def as_json(value: Any) -> str:
    """Write a value as JSON, to be copied."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.simple_tag
def page_as_json(page: PageItem) -> SafeString:
    """Draw everything the service sent of a page as coloured JSON."""
    return _coloured(pretty_json(page.to_wire()))


@lru_cache(maxsize=20)  # the same page is looked at again and again, and each may be long
def _coloured(text: str) -> SafeString:
    return format_html('<pre class="code wrap">{}</pre>', highlight_source(text, "json"))


register.filter(language_of)
