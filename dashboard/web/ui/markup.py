"""Template functions for icons, statuses, moments, ids, numbers and untrusted text.

Every string is escaped or sanitized.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from dashboard.clock import in_minutes, in_words
from dashboard.contract.resource import Resource
from dashboard.contract.wire import is_mark, read_date
from dashboard.ledger.states import OperationState, VersionState
from dashboard.texts import split_invisible
from dashboard.web.ui.formats import Formats, active_formats
from dashboard.web.ui.formats import number as format_number
from dashboard.web.ui.highlighting import highlight_source, pretty_json
from dashboard.web.ui.markdown import LINK_REL, is_linkable, render_markdown

# A status has a word, a shape and a tone, as not everyone can tell colors apart.
STATUSES: dict[str, tuple[str, str, str]] = {
    **{str(state): state.badge for state in (*VersionState, *OperationState)},
    # Status of a page. Its other statuses, draft and archived, are like a version's.
    "published": ("Published", "st-published", "ok"),
    # Statuses of a subscription.
    "active": ("Active", "st-published", "ok"),
    "paused": ("Paused", "st-off", "plain"),
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

_COLOR = re.compile("#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]+", re.IGNORECASE)
_SUBMIT = SafeString('"submit"')
_SUBMIT_IS_OFF = SafeString(
    '"button" aria-disabled="true" aria-describedby="outage"'
    ' title="Unavailable until the service responds"'
)


@lru_cache(maxsize=500, typed=True)
def icon(name: str, extra: str = "") -> SafeString:
    """Render an icon from our sprite. `extra` adds CSS classes, such as `large`."""
    classes = f"icon {extra}".strip()
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        classes,
        static("icons.svg"),
        name,
    )


def submits(error: object) -> SafeString:
    """Return the type attribute of a button that sends something to the service.

    With an `error`, the button is disabled. `error` is an outage or the page's failed read; the
    banner of the page gives the reason.
    """
    return _SUBMIT_IS_OFF if error else _SUBMIT


def naming_invisible(text: str | None, *, is_changed: bool = True) -> SafeString | str:
    """Render a text, with each invisible character replaced by its name."""
    pieces = list(split_invisible(text or "", is_changed=is_changed))
    if not any(name for _, name in pieces):
        return text or ""
    named = (
        (piece, format_html('<span class="character"> {} </span>', name) if name else "")
        for piece, name in pieces
    )
    return format_html_join("", "{}{}", named)


def unreadable_mark(resource: Resource) -> SafeString:
    """Render a badge that names the unreadable fields of a resource; empty if there are none."""
    if not resource.unreadable:
        return SafeString()
    paths = Truncator(", ".join(value.path for value in resource.unreadable)).chars(60)
    return format_html(
        '<span class="badge" data-tone="warn">{}Unreadable: {}</span>', icon("st-unread"), paths
    )


def status_badge(status: str | None, label: str = "", *, pill: bool = False) -> SafeString:
    """Render the status of a page or subscription, or the state of a version or operation.

    An unknown status is shown under its own name, up to 30 characters, in a neutral tone.
    """
    if not status:
        return format_html('<span class="none">{}</span>', "Not given")
    word, shape, tone = STATUSES.get(status, (Truncator(status).chars(30), "st-todo", "plain"))
    return format_html(
        '<span class="badge{}" data-tone="{}">{}{}</span>',
        " pill" if pill else "",
        tone,
        icon(shape, "spin" if shape == SPINNING else ""),
        label or word,
    )


def status_icon(status: str, extra: str = "") -> SafeString:
    """Render the shape of a status without its word. The word has to be near it."""
    return icon(STATUSES.get(status, _NEUTRAL)[1], extra)


def status_tone(status: str) -> str:
    return STATUSES.get(status, _NEUTRAL)[2]


def page_type(value: str | None) -> str:
    return PAGE_TYPES.get(value or "", value or "Not given")


def moment(value: datetime | None, empty: str = "—") -> SafeString:
    """Render a moment in the viewer's zone.

    Shows the time if it is today, day and time if it is this year, otherwise day and year.
    """
    if value is None:
        return _placeholder(empty)
    # Convert to UTC: equal moments in different zones share a cache entry and must render alike.
    return _moment(value.astimezone(UTC), current_viewer_locale())


@lru_cache(maxsize=MAX_CACHED_MOMENTS)
def _moment(value: datetime, viewer: "ViewerLocale") -> SafeString:
    formats, local = viewer.formats, value.astimezone(viewer.zone)
    return format_html(
        '<time datetime="{}" title="{}, {} {}">{}</time>',
        value.isoformat(timespec="seconds"),
        formats.day(local, "named"),
        formats.time(local),
        local.tzname(),
        _short_moment(local, viewer),
    )


class ViewerLocale(NamedTuple):
    zone: tzinfo
    today: date
    formats: Formats


def current_viewer_locale() -> ViewerLocale:
    zone = timezone.get_current_timezone()
    return ViewerLocale(zone, timezone.localdate(), active_formats())


def _short_moment(local: datetime, viewer: ViewerLocale) -> str:
    if local.date() == viewer.today:
        return viewer.formats.time(local)
    if local.year != viewer.today.year:
        return viewer.formats.day(local, "dated")
    return f"{viewer.formats.day(local)} {viewer.formats.time(local, seconds=False)}"


def moment_text(value: datetime) -> str:
    return _short_moment(timezone.localtime(value), current_viewer_locale())


def day(value: date | None, how: str = "short") -> str:
    """Format a day as the viewer prefers. `how` is short, long, dated, full or named."""
    return active_formats().day(value, how) if value else ""


def number(value: Any, places: int | None = None) -> str:
    """Format a number with `places` decimals; "" if the value is not a number."""
    return format_number(value, places) if isinstance(value, int | float) else ""


def date_text(text: str | None, empty: str = "—") -> SafeString:
    """Render a date text of the API as a moment; if it isn't a date, as a label that says so."""
    if value := read_date(text):
        return _moment(value, current_viewer_locale())
    if not text:
        return _placeholder(empty)
    label = "ID, not a date" if is_mark(text) else "Unreadable date"
    return format_html('<span class="none" title="{}">{}</span>', text, label)


def short_id(identifier: str | None, what: str = "ID") -> SafeString:
    """Render a shortened identifier, with the full one in its title and a copy button."""
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
    """Format a timedelta or a number of seconds: `0.4 s`, `18 min 04 s`, `3 days 4 h`.

    A negative duration, from dates out of order, reads `negative, 4 min`.
    """
    if value is None:
        return "—"
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds <= -0.05:
        return f"negative, {in_words(-seconds)}"
    return in_words(max(seconds, 0))


def running(value: timedelta) -> SafeString:
    """Render how long something has lasted. After the first minute, in whole minutes.

    relative-times.js keeps it up to date while the page is open, in the same format.
    """
    seconds = max(int(value.total_seconds()), 0)
    return format_html('<span class="nowrap" data-age="{}">{}</span>', seconds, in_minutes(seconds))


def milliseconds(value: float | None) -> str:
    return duration(None if value is None else value / 1000)


def value_or_none(value: Any, empty: str = "—") -> Any:
    """Return a value, or a dash that screen readers read as "empty"."""
    return _placeholder(empty) if value in (None, "", [], {}) else value


def markdown(text: str | None, classes: str = "prose") -> SafeString:
    """Render sanitized markdown, isolated from htmx and from the page's text direction."""
    block = '<div class="{}" dir="auto" hx-disable>{}</div>'
    return format_html(block, classes, render_markdown(text or ""))


def json_code(value: Any) -> SafeString:
    return source_code(pretty_json(value), "json")


def source_code(text: str | None, language: str = "") -> SafeString:
    block = '<pre class="code wrap" translate="no">{}</pre>'
    return format_html(block, highlight_source(text or "", language))


def untranslated(text: str, names: Iterable[str] | None = None) -> SafeString:
    """Render a text and keep browsers from translating `names` in it, or all of it."""
    if names is None:
        return format_html('<span translate="no">{}</span>', text)
    pattern = "|".join(re.escape(name) for name in names if name)
    parts = re.split(f"({pattern})", text) if pattern else [text]
    # Splitting by a group makes every second part a name.
    return format_html_join(
        "", "{}", ((untranslated(part) if n % 2 else part,) for n, part in enumerate(parts))
    )


def safe_link(url: str | None, text: str = "") -> Any:
    """Render a URL as a link for http, https and mailto, otherwise as text."""
    label = text or url or ""
    if not url or not is_linkable(url):
        return format_html("<bdi>{}</bdi>", label) if label else value_or_none(None)
    return format_html('<a href="{}" rel="{}"><bdi>{}</bdi></a>', url, LINK_REL, label)


def swatch(color: object) -> SafeString:
    """Render a small square in a color: hexadecimal or a name. Other values have none."""
    if not _COLOR.fullmatch(f"{color}"):
        return SafeString("")
    square = (
        '<svg class="icon" aria-hidden="true"><rect width="100%" height="100%" rx="3" fill="{}"/>'
    )
    return format_html(f"{square}</svg>", color)


def optional_text(text: str | None) -> SafeString:
    """Render a text inline, with a placeholder if it is empty or None."""
    if text:
        return format_html("<bdi>{}</bdi>", text)
    word = "Not given" if text is None else "Empty text"
    return format_html('<span class="none">{}</span>', word)


def _placeholder(text: str) -> SafeString:
    return DASH if text == "—" else format_html('<span class="none">{}</span>', text)
