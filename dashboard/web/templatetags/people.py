"""Tags of the templates under people/."""

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.web.people_matches import Marked, Piece
from dashboard.web.people_part import PersonRow
from dashboard.web.templatetags.pressroom import value_or_none

register = template.Library()

LABELS = {"domain": "Domain", "slug": "Slug", "phone_number": "Phone"}
"""Fields that a row shows at some widths or at none, as they are called."""


@register.simple_tag
def marked(found: Marked, name: str) -> SafeString:
    """Draw a field with what was found in it marked; nothing where it is empty."""
    return _draw(found.fields[name])


@register.simple_tag
def field(row: PersonRow, name: str, empty: str = "—") -> SafeString:
    """Draw a field of a person, what was found in it marked; or that it is empty."""
    pieces = row.marked.fields[name]
    return _draw(pieces) if pieces else value_or_none(None, empty)


@register.filter
def found_beyond(found: Marked, shown: str) -> list[tuple[str, str]]:
    """Name the fields that hold a word which none of the shown ones, set off by blanks, holds."""
    return [(name, LABELS[name]) for name in found.found_beyond(*shown.split())]


def _draw(pieces: list[Piece]) -> SafeString:
    if len(pieces) == 1 and not pieces[0].is_match:
        return mark_safe(f"<bdi>{escape(pieces[0].text)}</bdi>")  # noqa: S308  # as format_html, in half the time
    drawn = (
        (format_html("<mark>{}</mark>", piece.text) if piece.is_match else piece.text,)
        for piece in pieces
    )
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", drawn))
