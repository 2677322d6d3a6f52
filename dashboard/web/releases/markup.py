"""Template functions for the times of releases."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.releases.models import Release
from dashboard.releases.schedules import AmbiguousTimeError, ScheduledMoment
from dashboard.web.ui.locale_format import active_language
from dashboard.web.ui.markup import duration
from dashboard.web.ui.time_zones import current_zone_name


def release_title(release: Release) -> str:
    """Return the name of a release; of one that is named after its versions with the time, too."""
    if release.has_own_name:
        return release.name
    created, language = timezone.localtime(release.created_at), active_language()
    style = "short" if created.year == timezone.localdate().year else "dated"
    return f"{release.name}, {language.day(created, style)}, {clock_time(created)}"


def planned_moment(value: datetime | None) -> SafeString:
    """Render a planned or past moment to the minute, with its day: `Today, 4:30 PM`."""
    if value is None:
        return SafeString("")
    local, language = timezone.localtime(value), active_language()
    days = (local.date() - timezone.localdate()).days
    names = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}
    style = "short" if local.year == timezone.localdate().year else "dated"
    return format_html(
        '{}, <time datetime="{}" title="{}, {} {}">{}</time>',
        names.get(days) or language.day(local, style),
        local.isoformat(timespec="seconds"),
        language.day(local, "named"),
        language.time(local),
        local.tzname(),
        language.time(local, seconds=False),
    )


def local_text(moment: ScheduledMoment) -> SafeString:
    """Render a moment in its own zone: `Today, 2:00 PM`."""
    with timezone.override(moment.known_zone):
        return planned_moment(moment.instant)


def unknown_zone_note(moment: ScheduledMoment) -> str:
    """Return why a moment is shown in UTC and not in its own zone; "" if it is not."""
    if moment.is_zone_known or not moment.zone:
        return ""
    return f"This machine doesn’t know the time zone {moment.zone}, so the time is shown in UTC."


def skipped_time_note(moment: ScheduledMoment) -> str:
    """Return why a moment is another time than typed; "" if it is not."""
    typed, local, language = moment.skipped, moment.local, active_language()
    if typed is None:
        return ""
    day = "" if local.date() == typed.date() else f" on {language.day(local, 'dated')}"
    return (
        f"{clock_time(typed)} doesn’t exist on {language.day(typed, 'dated')}, "
        f"as clocks go forward. The next valid time is {clock_time(local)}{day}."
    )


def repeated_time_problem(error: AmbiguousTimeError) -> str:
    """Return that a time occurs twice that day, and what to do."""
    local = error.first.local
    day = active_language().day(local, "dated")
    return f"{clock_time(local)} occurs twice on {day}. Choose the first or the second."


def clock_time(value: datetime) -> str:
    """Return the time of day to the minute, in the value's own zone."""
    return active_language().time(value, seconds=False)


def time_zone_name() -> str:
    """Return the name of the viewer's time zone."""
    return current_zone_name()


def time_until(value: datetime) -> str:
    """Return how long it is until a moment, to the minute: `in 6 h 35 min`, `8 min late`."""
    seconds = (value - timezone.now()).total_seconds()
    if -60 < seconds < 60:
        return "now"
    rounded = duration(timedelta(minutes=int(abs(seconds) // 60)))
    return f"in {rounded}" if seconds > 0 else f"{rounded} late"
