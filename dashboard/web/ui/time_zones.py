"""Time zones: the choices of the settings, and the one of a request."""

import zoneinfo
from functools import cache
from itertools import groupby

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format

from dashboard.ledger.preferences import get_preferences

REGIONS = (
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()  # noqa: SIM905
)
BROWSER_CHOICE = ("", "Browser default")
UTC = "UTC"

Choices = list[tuple[str, str | list[tuple[str, str]]]]


@cache
def zone_choices() -> Choices:
    """Return the form choices: the browser's own, UTC, and the zones grouped by region."""
    names = sorted(zoneinfo.available_timezones())
    regional = [name for name in names if name.partition("/")[0] in REGIONS]
    groups = groupby(regional, key=lambda name: name.partition("/")[0])
    return [
        BROWSER_CHOICE,
        (UTC, UTC),
        *((region, [(name, _label(name)) for name in group]) for region, group in groups),
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

    Django's own function returns "-03" for `Etc/GMT+3`, and no other one finds a zone by that.
    """
    return str(timezone.get_current_timezone())


def time_zone_label(request: HttpRequest) -> str:
    """Return the active time zone's abbreviation; "" if it is the browser's own."""
    has_cookie = settings.TIME_ZONE_COOKIE in request.COOKIES
    is_browsers = has_cookie and not get_preferences(request.user).time_zone
    return "" if is_browsers else date_format(timezone.localtime(), "e")


def _label(name: str) -> str:
    return name.partition("/")[2].replace("_", " ").replace("/", ", ")
