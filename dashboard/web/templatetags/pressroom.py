"""Tags of every page: icons, statuses, moments, ids. Built in: no template loads them."""

from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.urls import get_script_prefix
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from dashboard.contract.dates import is_mark, read_date
from dashboard.ledger.models.operations import Outcome
from dashboard.web.addresses import address_of
from dashboard.web.languages import Language, followed

register = template.Library()

# A status is a word, a shape and a tone. Source: DESIGN-LANGUAGE.md, Status vocabulary.
STATUSES = {
    "draft": ("Draft", "st-draft", "plain"),
    "pending": ("Pending", "st-pending", "info"),
    "queued": ("Queued", "st-queued", "info"),
    "processing": ("Processing", "st-processing", "work"),
    "published": ("Published", "st-published", "ok"),
    "live": ("Live now", "st-live", "ok"),
    "obsolete": ("Obsolete", "st-obsolete", "plain"),
    "cancelled": ("Cancelled", "st-cancelled", "plain"),
    "archived": ("Archived", "st-archived", "plain"),
    "active": ("Active", "st-published", "ok"),
    "paused": ("Paused", "st-off", "plain"),
    "unreadable": ("Unreadable", "st-unread", "warn"),
    Outcome.SENDING.value: ("In flight", "st-processing", "work"),
    Outcome.ACCEPTED.value: ("Done", "st-published", "ok"),
    Outcome.REJECTED.value: ("Failed", "st-failed", "bad"),
    Outcome.UNKNOWN.value: ("Outcome unknown", "st-unknown", "warn"),
    Outcome.NOT_SENT.value: ("Not sent", "st-off", "plain"),
}
PAGE_TYPES = {
    "inbound": "Inbound",
    "outbound": "Outbound",
    "call_followup": "Call follow-up",
    "sales_deck": "Sales deck",
    "custom": "Custom",
}
SPINNING = "st-processing"
ID_HEAD, ID_TAIL = 9, 4
DRAWINGS_KEPT = 1_000
"""Drawings of a kind, of about 1 KB each, kept by a process."""
LARGE_DRAWINGS_KEPT = 200
"""Of 4 to 30 KB."""
LISTS_KEPT = 40
"""Of up to 100 KB: of each list its rows, and what narrows it."""


@cache
def _sprite() -> str:
    return static("icons.svg")


register.simple_tag(address_of, name="address")


@register.simple_tag
def drawn(name: str, rows: Iterable[Hashable]) -> SafeString:
    """Draw the rows of a list, each by the template of that name, which sees its `row` alone.

    Most rows of a list were drawn before, and an equal row looks the same: drawings are kept.
    So what a row holds stays in memory for a while; rows of people are not drawn so.
    """
    draw, reader, prefix = _kept(_drawn_row), current_reader(), get_script_prefix()
    return mark_safe("".join(draw(name, row, reader, prefix) for row in rows))  # noqa: S308


@register.simple_tag
def drawn_one(name: str, row: Hashable) -> SafeString:
    """Draw one thing as `drawn` does each row of a list; fewer of these are kept."""
    return _kept(_drawn_one)(name, row, current_reader(), get_script_prefix())


@register.simple_tag
def drawn_list(name: str, row: Hashable) -> SafeString:
    """Draw a whole list once, as `drawn_one` does smaller things; fewer of these are kept."""
    return _kept(_drawn_list)(name, row, current_reader(), get_script_prefix())


def _draw(name: str, row: Hashable, _reader: "Reader", _prefix: str) -> SafeString:
    """Draw a row; what else it depends on is there to tell drawings apart."""
    drawing = (
        template.Engine.get_default().get_template(name).render(template.Context({"row": row}))
    )
    return in_ascii(drawing)


def in_ascii(drawing: str) -> SafeString:
    """Return HTML that shows the same, with a reference for each character beyond ASCII.

    One such character in a page makes every copy of all of it twice as large, and its last one
    be written letter by letter.
    """
    return mark_safe(drawing.encode("ascii", "xmlcharrefreplace").decode())  # noqa: S308


_drawn_row = lru_cache(maxsize=DRAWINGS_KEPT)(_draw)
_drawn_one = lru_cache(maxsize=LARGE_DRAWINGS_KEPT)(_draw)
_drawn_list = lru_cache(maxsize=LISTS_KEPT)(_draw)


def _kept(draw: Any) -> Callable[..., SafeString]:
    """Return the function that keeps drawings, but for who writes a template: as it is now."""
    return _draw if settings.DEBUG else draw


@register.simple_tag
@lru_cache(maxsize=500, typed=True)
def icon(name: str, extra: str = "") -> SafeString:
    """Draw an icon of our sprite; `extra` holds more classes, such as `l` for a large one."""
    classes = f"i {extra}".strip()
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>', classes, _sprite(), name
    )


@register.simple_tag
@lru_cache(maxsize=500, typed=True)
def status_badge(status: str | None, label: str = "", *, pill: bool = False) -> SafeString:
    """Draw a status of a page, version, subscription or operation: a shape and a word.

    One we do not know keeps its own name, in neutral; one not given says so.
    """
    if not status:
        return format_html('<span class="none">{}</span>', "Not given")
    word, shape, tone = STATUSES.get(status, (status, "st-todo", "plain"))
    return format_html(
        '<span class="badge{}" data-tone="{}">{}{}</span>',
        " pill" if pill else "",
        tone,
        icon(shape, "spin" if shape == SPINNING else ""),
        label or word,
    )


@register.filter
def page_type(value: str | None) -> str:
    """Name a page type; one we do not know keeps its own name."""
    return PAGE_TYPES.get(value or "", value or "Not given")


@register.simple_tag
def moment(value: datetime | None, empty: str = "—") -> SafeString:
    """Draw a moment in the reader's zone: today the time, this year the day, older the year too."""
    if value is None:
        return _nothing(empty)
    # Moments are equal in whichever zone they are told: in one, they are drawn alike too.
    return _moment(value.astimezone(UTC), current_reader())


@lru_cache(maxsize=DRAWINGS_KEPT)
def _moment(value: datetime, reader: "Reader") -> SafeString:
    language, local = reader.language, value.astimezone(reader.zone)
    return format_html(
        '<time datetime="{}" title="{}, {} {}">{}</time>',
        value.isoformat(timespec="seconds"),
        language.day(local, "named"),
        language.time(local),
        local.tzname(),
        _as_near(local, reader),
    )


class Reader(NamedTuple):
    """What the drawing of a moment depends on besides it."""

    zone: tzinfo
    today: date
    language: Language


def current_reader() -> Reader:
    """Return what the drawings of this moment depend on."""
    zone = timezone.get_current_timezone()
    return Reader(zone, datetime.now(zone).date(), followed())


def _as_near(local: datetime, reader: Reader) -> str:
    if local.date() == reader.today:
        return reader.language.time(local)
    if local.year != reader.today.year:
        return reader.language.day(local, "dated")
    return f"{reader.language.day(local)} {reader.language.time(local, seconds=False)}"


@register.filter
def moment_text(value: datetime) -> str:
    """Write a moment as `moment` does, where nothing but text can stand."""
    return _as_near(timezone.localtime(value), current_reader())


@register.simple_tag
def language_name() -> str:
    """Return the BCP 47 name of the language that numbers are written as in, for scripts."""
    return followed().name


@register.filter
def day(value: date | None, how: str = "short") -> str:
    """Write a day as the reader's language does; `how`: short, long, dated, full, named."""
    return followed().day(value, how) if value else ""


@register.filter
def number(value: Any, places: int | None = None) -> str:
    """Write a number as the reader's language does, with so many decimals; no number is empty."""
    return followed().number(value, places) if isinstance(value, int | float) else ""


@register.simple_tag
def date_text(text: str | None, empty: str = "—") -> SafeString:
    """Draw a date of the wire: the moment in it, or the text as it came."""
    return date_for(current_reader(), text, empty)


def date_for(reader: Reader, text: str | None, empty: str = "—") -> SafeString:
    """Draw a date of the wire for a reader who is known: of a list's rows each has one."""
    if found := read_date(text):
        return _moment(found, reader)
    if not text:
        return _nothing(empty)
    label = "A mark, not a time" if is_mark(text) else "Not a date we can read"
    return format_html('<span class="none" title="{}">{}</span>', text, label)


@register.simple_tag
def short_id(identifier: str | None, what: str = "id") -> SafeString:
    """Draw an identifier: its first nine and last four characters, whole in the title, to copy."""
    if not identifier:
        return _nothing("—")
    short = identifier
    if len(identifier) > ID_HEAD + ID_TAIL + 1:
        short = f"{identifier[:ID_HEAD]}…{identifier[-ID_TAIL:]}"
    return format_html(
        '<span class="id"><span title="{0}">{1}</span><button type="button" data-copy="{0}" '
        'aria-label="Copy {2} {3}">{4}</button></span>',
        identifier,
        short,
        what,
        identifier[-ID_TAIL:],
        icon("copy"),
    )


@register.filter
def duration(value: timedelta | float | None) -> str:
    """Name a length of time, a timedelta or seconds: `0.4 s`, `18 min 04 s`, `3 days 4 h`."""
    if value is None:
        return "—"
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds < 10:
        return f"{followed().number(max(seconds, 0), places=1)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, days = minutes // 60, minutes // (24 * 60)
    if minutes == 0:
        return f"{rest} s"
    if hours == 0:
        return f"{minutes} min {rest:02} s" if rest else f"{minutes} min"
    if days == 0:
        return f"{hours} h {minutes % 60:02} min"
    return f"{days} day{'s' if days != 1 else ''} {hours % 24} h"


@register.simple_tag
def running(value: timedelta) -> SafeString:
    """Draw how long something has been so, to the minute after the first one.

    It goes on while the page stands open: ages.js counts from here, in the same words.
    """
    seconds = max(int(value.total_seconds()), 0)
    return format_html('<span class="nb" data-age="{}">{}</span>', seconds, _age(seconds))


def _age(seconds: int) -> str:
    minutes, hours, days = (seconds // unit for unit in (60, 3600, 86_400))
    if not minutes:
        return f"{seconds} s"
    if not hours:
        return f"{minutes} min"
    if not days:
        return f"{hours} h {minutes % 60:02} min"
    return f"{days} day{'s' if days > 1 else ''} {hours % 24} h"


@register.filter
def milliseconds(value: float | None) -> str:
    """Name a length of time given in milliseconds."""
    return duration(None if value is None else value / 1000)


@register.simple_tag
def value_or_none(value: Any, empty: str = "—") -> Any:
    """Return a value, or a dash that is read aloud as "empty"."""
    return _nothing(empty) if value in (None, "", [], {}) else value


@lru_cache(maxsize=100, typed=True)
def _nothing(shown: str) -> SafeString:
    if shown != "—":
        return format_html('<span class="none">{}</span>', shown)
    return format_html(
        '<span class="none"><span aria-hidden="true">{}</span>{}</span>',
        "—",
        format_html('<span class="vh">{}</span>', "empty"),
    )
