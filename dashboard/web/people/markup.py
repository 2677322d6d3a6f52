"""Template functions for a person's fields, with the matches of a search marked."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web.people.listing import PersonRow
from dashboard.web.people.match_highlighting import PersonMatch
from dashboard.web.ui.markup import value_or_none
from dashboard.web.ui.match_highlighting import render_segments

LABELS = {"domain": "Domain", "slug": "Slug", "phone_number": "Phone"}
"""Labels of the fields that a row does not show at every width."""


def person_field(row: PersonRow, name: str, empty: str = "—") -> SafeString:
    """Render a field with its matches marked; a placeholder if it is empty."""
    text = getattr(row.person, name)
    if not text:
        return SafeString(value_or_none(None, empty))
    if not row.marked.words:
        return format_html("<bdi>{}</bdi>", text)
    return marked_field(row.marked, name)


def marked_field(found: PersonMatch, name: str) -> SafeString:
    """Render a field with its matches marked; nothing if it is empty."""
    segments = found.segments(name)
    return format_html("<bdi>{}</bdi>", render_segments(segments)) if segments else SafeString()


def matches_outside(found: PersonMatch, shown: str) -> list[tuple[str, str]]:
    """Return names and labels of fields with a match that none of the `shown` ones has.

    `shown` separates the names by blanks.
    """
    return [(name, LABELS[name]) for name in found.matches_outside(*shown.split())]
