"""Template functions for the moment of a schedule."""

from datetime import UTC

from dashboard.releases.schedules import ScheduledMoment
from dashboard.web.releases.markup import clock_time
from dashboard.web.ui.locale_format import active_language


def place_of(zone: str) -> str:
    """Return the city of a time zone, as in `Oslo`."""
    return zone.rpartition("/")[2].replace("_", " ")


def utc_text(moment: ScheduledMoment) -> str:
    """Format a moment in UTC: `1:00 PM UTC`, with the day if that differs from the local one."""
    utc = moment.instant.astimezone(UTC)
    day = "" if utc.date() == moment.local.date() else f"{active_language().day(utc)}, "
    return f"{day}{clock_time(utc)} UTC"
