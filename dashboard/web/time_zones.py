"""Time zones: those there are to choose from, and the one to show times in."""

import zoneinfo
from functools import cache
from itertools import groupby

from django.http import HttpRequest

from dashboard.ledger.preferences import preferences_of

COOKIE = "timezone"
"""Names the browser's own zone; shell.js keeps it."""
REGIONS = (
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()  # noqa: SIM905
)
BROWSERS_OWN = ("", "That of each browser I use")
UTC = "UTC"

Choices = list[tuple[str, str | list[tuple[str, str]]]]


@cache
def zone_choices() -> Choices:
    """Return the browser's own, UTC, and the zones of the regions, as a form offers them."""
    names = sorted(zoneinfo.available_timezones())
    regional = [name for name in names if name.partition("/")[0] in REGIONS]
    groups = groupby(regional, key=lambda name: name.partition("/")[0])
    return [
        BROWSERS_OWN,
        (UTC, UTC),
        *((region, [(name, _spoken(name)) for name in group]) for region, group in groups),
    ]


def zone_of(request: HttpRequest) -> zoneinfo.ZoneInfo | None:
    """Return the zone this person chose, else the browser's; None, for UTC, where none is."""
    chosen = preferences_of(request.user).time_zone
    return _zone(chosen or request.COOKIES.get(COOKIE, ""))


def is_browsers_zone(request: HttpRequest) -> bool:
    """Whether times are shown as the clock beside the browser shows them."""
    return COOKIE in request.COOKIES and not preferences_of(request.user).time_zone


def _zone(name: str) -> zoneinfo.ZoneInfo | None:
    """Return the zone of that name; None, which stands for UTC, for a name that is none."""
    try:
        return zoneinfo.ZoneInfo(name) if name and len(name) < 64 else None
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _spoken(name: str) -> str:
    return name.partition("/")[2].replace("_", " ").replace("/", ", ")
