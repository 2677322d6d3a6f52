"""Template functions for icons, statuses, moments, ids and numbers."""

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from dashboard.contract.dates import is_mark, read_date
from dashboard.contract.resource import Resource
from dashboard.invisible_characters import split_invisible
from dashboard.ledger.models.operations import Outcome
from dashboard.web.ui.locale_format import Language, active_language

# A status is a word, a shape and a tone. Source: DESIGN-LANGUAGE.md, Status vocabulary.
STATUSES = {
    "draft": ("Draft", "st-draft", "plain"),
    "pending": ("Pending", "st-pending", "info"),
    "queued": ("Queued", "st-queued", "info"),
    "processing": ("Processing", "st-processing", "work"),
    "published": ("Published", "st-published", "ok"),
    "live": ("Live now", "st-live", "ok"),
    "obsolete": ("Obsolete", "st-obsolete", "plain"),
    "superseded": ("Superseded", "st-obsolete", "plain"),
    "cancelled": ("Cancelled", "st-cancelled", "plain"),
    "archived": ("Archived", "st-archived", "plain"),
    "active": ("Active", "st-published", "ok"),
    "paused": ("Paused", "st-off", "plain"),
    "unreadable": ("Unreadable", "st-unread", "warn"),
    Outcome.SENDING.value: ("In progress", "st-processing", "work"),
    Outcome.ACCEPTED.value: ("Succeeded", "st-published", "ok"),
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
_NEUTRAL = ("", "st-todo", "plain")
SPINNING = "st-processing"
ID_HEAD, ID_TAIL = 9, 4
MAX_CACHED_MOMENTS = 1_000
DASH = SafeString(
    '<span class="none"><span aria-hidden="true">—</span>'
    '<span class="visually-hidden">empty</span></span>'
)

_SUBMIT = SafeString('"submit"')
_SUBMIT_IS_OFF = SafeString(
    '"button" aria-disabled="true" aria-describedby="outage"'
    ' title="Unavailable until the service responds"'
)


@lru_cache(maxsize=500, typed=True)
def icon(name: str, extra: str = "") -> SafeString:
    """Render an icon of our sprite; `extra` holds more classes, such as `large`."""
    classes = f"icon {extra}".strip()
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        classes,
        static("icons.svg"),
        name,
    )


def submits(error: object) -> SafeString:
    """Return the type of a button that changes the service; one that is off if there is an error.

    `error` is the page's outage or the error of its reading. The banner of the page has the reason.
    """
    return _SUBMIT_IS_OFF if error else _SUBMIT


def naming_invisible(text: str | None, *, is_changed: bool = True) -> SafeString | str:
    """Render a text with the name of each invisible character in its place."""
    pieces = list(split_invisible(text or "", is_changed=is_changed))
    if not any(name for _, name in pieces):
        return text or ""
    named = (
        (piece, format_html('<span class="character"> {} </span>', name) if name else "")
        for piece, name in pieces
    )
    return format_html_join("", "{}{}", named)


def unreadable_mark(resource: Resource) -> SafeString:
    """Render a mark that names what could not be read in a resource; empty if nothing."""
    if not resource.unreadable:
        return SafeString()
    paths = Truncator(", ".join(value.path for value in resource.unreadable)).chars(60)
    return format_html(
        '<span class="badge" data-tone="warn">{}Unreadable: {}</span>', icon("st-unread"), paths
    )


def status_badge(status: str | None, label: str = "", *, pill: bool = False) -> SafeString:
    """Render a status of a page, version, subscription or operation: a shape and a word.

    An unknown status is shown by its own name, in neutral.
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


def status_icon(status: str, extra: str = "") -> SafeString:
    """Render the shape of a status without its word, which has to be near it."""
    return icon(STATUSES.get(status, _NEUTRAL)[1], extra)


def status_tone(status: str) -> str:
    """Return the tone of a status."""
    return STATUSES.get(status, _NEUTRAL)[2]


def page_type(value: str | None) -> str:
    """Return the label of a page type; of an unknown one its own name."""
    return PAGE_TYPES.get(value or "", value or "Not given")


def moment(value: datetime | None, empty: str = "—") -> SafeString:
    """Render a moment in the viewer's zone: time if today, day if this year, else with the year."""
    if value is None:
        return _placeholder(empty)
    # In UTC, as equal moments of different zones share a cache entry and must render alike.
    return _moment(value.astimezone(UTC), current_viewer_locale())


@lru_cache(maxsize=MAX_CACHED_MOMENTS)
def _moment(value: datetime, viewer: "ViewerLocale") -> SafeString:
    language, local = viewer.language, value.astimezone(viewer.zone)
    return format_html(
        '<time datetime="{}" title="{}, {} {}">{}</time>',
        value.isoformat(timespec="seconds"),
        language.day(local, "named"),
        language.time(local),
        local.tzname(),
        _short_moment(local, viewer),
    )


class ViewerLocale(NamedTuple):
    """What the rendering of a moment depends on."""

    zone: tzinfo
    today: date
    language: Language


def current_viewer_locale() -> ViewerLocale:
    """Return the active time zone and language, with today's date."""
    zone = timezone.get_current_timezone()
    return ViewerLocale(zone, timezone.localdate(), active_language())


def _short_moment(local: datetime, viewer: ViewerLocale) -> str:
    if local.date() == viewer.today:
        return viewer.language.time(local)
    if local.year != viewer.today.year:
        return viewer.language.day(local, "dated")
    return f"{viewer.language.day(local)} {viewer.language.time(local, seconds=False)}"


def moment_text(value: datetime) -> str:
    """Format a moment as `moment` does, as plain text."""
    return _short_moment(timezone.localtime(value), current_viewer_locale())


def language_name() -> str:
    """Return the BCP 47 name of the active language, for scripts."""
    return active_language().name


def day(value: date | None, how: str = "short") -> str:
    """Format a day in the viewer's language; `how`: short, long, dated, full, named."""
    return active_language().day(value, how) if value else ""


def number(value: Any, places: int | None = None) -> str:
    """Format a number in the viewer's language, with so many decimals; "" if it is none."""
    return active_language().number(value, places) if isinstance(value, int | float) else ""


def date_text(text: str | None, empty: str = "—") -> SafeString:
    """Render a date text of the API as a moment; if it is no date, unchanged with a remark."""
    if value := read_date(text):
        return _moment(value, current_viewer_locale())
    if not text:
        return _placeholder(empty)
    label = "ID, not a date" if is_mark(text) else "Unreadable date"
    return format_html('<span class="none" title="{}">{}</span>', text, label)


def short_id(identifier: str | None, what: str = "ID") -> SafeString:
    """Render an identifier shortened, with the whole one in the title and a copy button."""
    if not identifier:
        return _placeholder("—")
    short = identifier
    if len(identifier) > ID_HEAD + ID_TAIL + 1:
        short = f"{identifier[:ID_HEAD]}…{identifier[-ID_TAIL:]}"
    return format_html(
        '<span class="id" translate="no"><span title="{0}">{1}</span>'
        '<button type="button" data-copy="{0}" aria-label="Copy {2} {3}">{4}</button></span>',
        identifier,
        short,
        what,
        identifier[-ID_TAIL:],
        icon("copy"),
    )


def duration(value: timedelta | float | None) -> str:
    """Format a duration, a timedelta or seconds: `0.4 s`, `18 min 04 s`, `3 days 4 h`.

    A negative one, of dates out of order, is named: `negative, 4 min`.
    """
    if value is None:
        return "—"
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds <= -0.05:
        return f"negative, {_duration(-seconds)}"
    return _duration(max(seconds, 0))


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{active_language().number(seconds, places=1)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, days = minutes // 60, minutes // (24 * 60)
    if minutes == 0:
        return f"{rest} s"
    if hours == 0:
        return f"{minutes} min {rest:02} s" if rest else f"{minutes} min"
    if days == 0:
        return f"{hours} h {minutes % 60:02} min"
    return f"{active_language().number(days)} day{'s' if days != 1 else ''} {hours % 24} h"


def running(value: timedelta) -> SafeString:
    """Render how long something has lasted, to the minute after the first one.

    relative-times.js keeps it up to date while the page is open, in the same format.
    """
    seconds = max(int(value.total_seconds()), 0)
    return format_html('<span class="nowrap" data-age="{}">{}</span>', seconds, _age(seconds))


def _age(seconds: int) -> str:
    minutes, hours, days = (seconds // unit for unit in (60, 3600, 86_400))
    if not minutes:
        return f"{seconds} s"
    if not hours:
        return f"{minutes} min"
    if not days:
        return f"{hours} h {minutes % 60:02} min"
    return f"{days} day{'s' if days > 1 else ''} {hours % 24} h"


def milliseconds(value: float | None) -> str:
    """Format a duration given in milliseconds."""
    return duration(None if value is None else value / 1000)


def value_or_none(value: Any, empty: str = "—") -> Any:
    """Return a value, or a dash that screen readers read as "empty"."""
    return _placeholder(empty) if value in (None, "", [], {}) else value


def _placeholder(text: str) -> SafeString:
    return DASH if text == "—" else format_html('<span class="none">{}</span>', text)
