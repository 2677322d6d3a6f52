"""Tags of the templates under people/."""

from functools import cache
from html import escape

from django import template
from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from dashboard.web.people_matches import Marked, Piece
from dashboard.web.people_part import OpenPerson, PeoplePart, PersonRow
from dashboard.web.templatetags.pressroom import current_reader, date_for, in_ascii, value_or_none

register = template.Library()

LABELS = {"domain": "Domain", "slug": "Slug", "phone_number": "Phone"}
"""Fields that a row shows at some widths or at none, as they are called."""


@register.simple_tag
def person_rows(
    part: PeoplePart, opened: OpenPerson | None = None, target: str | None = None
) -> SafeString:
    """Draw the rows of a part of the list; `target` is what htmx asked for.

    Rows of people are not kept, as those of pages are: what is kept is the row without the person.
    """
    open_row, reader = opened.row if opened else None, current_reader()
    frame = _frame.__wrapped__ if settings.DEBUG else _frame
    rows = (
        frame(is_open=row is open_row, is_focused=target == "rows" and row is part.rows[0]).format(
            address=escape(row.address),
            name=_field(row, "name", "No name"),
            email=_field(row, "email", "No email"),
            beyond=_beyond(row.marked),
            domain=_field(row, "domain"),
            phone=_field(row, "phone_number"),
            updated=date_for(reader, row.person.updated_at),
        )
        for row in part.rows
    )
    return in_ascii("".join(rows))  # Each text in them is escaped.


@cache
def _frame(*, is_open: bool, is_focused: bool) -> str:
    """Return a row with the places of its texts: the tags of a row take longer than its texts."""
    names = ("address", "name", "email", "beyond", "domain", "phone", "updated")
    context = {name: f"{{{name}}}" for name in names}
    return _template("people/_row.html").render(
        template.Context(context | {"is_open": is_open, "is_focused": is_focused})
    )


def _beyond(found: Marked) -> str:
    """Draw where else a search found a person, where name and email do not show all of it."""
    if not found.words or found.is_all_in_name_or_email:
        return ""
    return _template("people/_found_beyond.html").render(template.Context({"found": found}))


def _template(name: str) -> template.Template:
    return template.Engine.get_default().get_template(name)


@register.simple_tag
def marked(found: Marked, name: str) -> SafeString:
    """Draw a field with what was found in it marked; nothing where it is empty."""
    return mark_safe(_draw(found.pieces(name)))  # noqa: S308  # each text in it is escaped


def _field(row: PersonRow, name: str, empty: str = "—") -> str:
    """Draw a field of a person, what was found in it marked; or that it is empty."""
    text = getattr(row.person, name)
    if not text:
        return str(value_or_none(None, empty))
    return _draw(row.marked.pieces(name)) if row.marked.words else f"<bdi>{escape(text)}</bdi>"


@register.filter
def found_beyond(found: Marked, shown: str) -> list[tuple[str, str]]:
    """Name the fields that hold a word which none of the shown ones, set off by blanks, holds."""
    return [(name, LABELS[name]) for name in found.found_beyond(*shown.split())]


def _draw(pieces: list[Piece]) -> str:
    # By the standard library's escape: Django's, which also takes texts yet to be translated, makes
    # drawing a list take twice as long.
    if not pieces:
        return ""
    if len(pieces) == 1 and not pieces[0].is_match:
        return f"<bdi>{escape(pieces[0].text)}</bdi>"
    drawn = (
        f"<mark>{escape(text)}</mark>" if is_match else escape(text) for text, is_match in pieces
    )
    return f"<bdi>{''.join(drawn)}</bdi>"
