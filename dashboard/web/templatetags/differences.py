"""The tag that draws two texts compared by word. Load with `{% load differences %}`."""

from typing import Any

from django import template

from dashboard.web.differences import TextDifference, compare_texts

register = template.Library()


@register.inclusion_tag("components/difference.html")
def difference(old: str | None, new: str | None) -> dict[str, Any]:
    """Draw the difference of two texts in one: removed and added words in their place."""
    return {"difference": compare_texts(old, new)}


@register.inclusion_tag("components/difference_sides.html")
def difference_sides(compared: TextDifference, *, old_label: str, new_label: str) -> dict[str, Any]:
    """Draw the paragraphs of a difference beside each other: cells of a `.sides` grid."""
    return {"difference": compared, "old_label": old_label, "new_label": new_label}


@register.inclusion_tag("components/difference.html")
def difference_of(compared: TextDifference) -> dict[str, Any]:
    """Draw a difference that is worked out already, in one text."""
    return {"difference": compared}
