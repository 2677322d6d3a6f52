"""Format numbers, days and times of day as the viewer prefers.

Users choose the order of day and month, the 12- or 24-hour clock, and the time zone. Months are
written as names, because a date such as 3/9 is ambiguous.
"""

import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.formats import date_format

from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.models import Preferences

# Patterns of Django's `date` filter, by style.
DAY_FIRST = {"short": "j M", "long": "j F", "dated": "j M Y", "full": "j F Y", "named": "l j F Y"}
MONTH_FIRST = {
    "short": "M j",
    "long": "F j",
    "dated": "M j, Y",
    "full": "F j, Y",
    "named": "l, F j, Y",
}
EXPONENT_FROM = 1e21
"""Larger numbers are written with an exponent, as in JavaScript."""

REGIONS = (
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()  # noqa: SIM905
)
BROWSER_CHOICE = ("", "Browser default")
UTC = "UTC"

Choices = list[tuple[str, str | list[tuple[str, str]]]]


class Formats(NamedTuple):
    is_month_first: bool = False
    is_12_hour: bool = False

    def day(self, value: date, how: str = "short") -> str:
        # Cache by date: datetimes would add an entry for every time of the day.
        day = value.date() if isinstance(value, datetime) else value
        return _format_day(day, (MONTH_FIRST if self.is_month_first else DAY_FIRST)[how])

    def time(self, value: datetime, *, seconds: bool = True) -> str:
        """Format the time of day, in the value's own time zone."""
        rest = f"{value:%M:%S}" if seconds else f"{value:%M}"
        if self.is_12_hour:
            return f"{value.hour % 12 or 12}:{rest} {'AM' if value.hour < 12 else 'PM'}"
        return f"{value:%H}:{rest}"


@lru_cache(maxsize=5_000)
def _format_day(day: date, pattern: str) -> str:
    return format_date(day, pattern)


def number(value: float, places: int | None = None) -> str:
    """Format a number with `places` decimals; by default with up to three, as needed."""
    if abs(value) >= EXPONENT_FROM:
        return f"{Decimal(value):.3G}".replace("+", "")
    if places is not None:
        return f"{value:,.{places}f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}".rstrip("0").rstrip(".")


def request_formats(request: HttpRequest) -> Formats:
    preferences = get_preferences(request.user)
    return Formats(
        is_month_first=preferences.date_order == Preferences.DateOrder.MONTH_FIRST,
        is_12_hour=preferences.hours == Preferences.Hours.TWELVE,
    )


DEFAULT_FORMATS = Formats()
_active = ContextVar("formats", default=DEFAULT_FORMATS)
active_formats = _active.get
"""Function that returns the viewer's formats."""


@contextmanager
def override_formats(formats: Formats) -> Iterator[None]:
    token = _active.set(formats)
    try:
        yield
    finally:
        _active.reset(token)


@cache
def zone_choices() -> Choices:
    """Return the form choices: the browser's zone, UTC, and the other zones by region."""
    names = sorted(zoneinfo.available_timezones())
    regional = [name for name in names if name.partition("/")[0] in REGIONS]
    labels = {
        name: name.partition("/")[2].replace("_", " ").replace("/", ", ") for name in regional
    }
    groups = groupby(regional, key=lambda name: name.partition("/")[0])
    return [
        BROWSER_CHOICE,
        (UTC, UTC),
        *((region, [(name, labels[name]) for name in group]) for region, group in groups),
    ]


def request_time_zone(request: HttpRequest) -> zoneinfo.ZoneInfo | None:
    """Return the time zone from the user's settings, else the browser's; None means UTC."""
    name = get_preferences(request.user).time_zone or request.COOKIES.get(
        settings.TIME_ZONE_COOKIE, ""
    )
    try:
        return zoneinfo.ZoneInfo(name) if name and len(name) < 64 else None
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def current_zone_name() -> str:
    """Return the name of the active time zone.

    Django's own function returns "-03" for `Etc/GMT+3`, which is not a name of a zone.
    """
    return str(timezone.get_current_timezone())


def time_zone_label(request: HttpRequest) -> str:
    """Return the abbreviation of the active time zone; "" if the zone is the browser's."""
    has_cookie = settings.TIME_ZONE_COOKIE in request.COOKIES
    is_browsers = has_cookie and not get_preferences(request.user).time_zone
    return "" if is_browsers else date_format(timezone.localtime(), "e")
