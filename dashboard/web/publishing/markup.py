"""Template functions for the moment of a schedule."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.safestring import SafeString

from dashboard.releases.schedules import ScheduledMoment
from dashboard.web.releases.markup import planned_moment
from dashboard.web.ui.locale_format import active_language


def local_text(moment: ScheduledMoment) -> SafeString:
    """Render a moment in its own zone: `Today, 2:00 PM`."""
    with timezone.override(ZoneInfo(moment.zone)):
        return planned_moment(moment.instant)


def place_of(zone: str) -> str:
    """Return the city of a time zone, as in `Oslo`."""
    return zone.rpartition("/")[2].replace("_", " ")


def utc_text(moment: ScheduledMoment) -> str:
    """Format a moment in UTC: `1:00 PM UTC`, with the day if that differs from the local one."""
    utc = moment.instant.astimezone(UTC)
    day = "" if utc.date() == moment.local.date() else f"{active_language().day(utc)}, "
    return f"{day}{clock_text(utc)} UTC"


def clock_text(moment: datetime) -> str:
    """Format a time to the minute, as the viewer's language writes it."""
    return active_language().time(moment, seconds=False)
