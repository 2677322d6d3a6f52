"""Template functions for the times of releases."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard import clock
from dashboard.releases.models import Release
from dashboard.releases.schedules import AmbiguousTimeError, ScheduledMoment
from dashboard.web.ui.formats import active_formats
from dashboard.web.ui.markup import duration


def release_title(release: Release) -> str:
    """Return the name of a release. A generated name is followed by the time of creation."""
    if release.has_own_name:
        return release.name
    created, formats = timezone.localtime(release.created_at), active_formats()
    style = "short" if created.year == timezone.localdate().year else "dated"
    return f"{release.name}, {formats.day(created, style)}, {clock_time(created)}"


def planned_moment(
    value: datetime | None, *, capitalized: bool = False, has_relative_day: bool = True
) -> SafeString:
    """Render a planned or past moment to the minute, with its day: `today, 4:30 PM`.

    `capitalized` is for a moment that begins a line.
    """
    if value is None:
        return SafeString("")
    local, formats = timezone.localtime(value), active_formats()
    days = (local.date() - timezone.localdate()).days
    names = {-1: "yesterday", 0: "today", 1: "tomorrow"} if has_relative_day else {}
    name = names.get(days, "")
    style = "short" if local.year == timezone.localdate().year else "dated"
    return format_html(
        '<time datetime="{}" title="{}, {} {}">{}, {}</time>',
        # In UTC: open pages compare moments by this text, in whatever zone they are shown.
        value.astimezone(UTC).isoformat(timespec="seconds"),
        formats.day(local, "named"),
        formats.time(local),
        local.tzname(),
        (name.capitalize() if capitalized else name) or formats.day(local, style),
        formats.time(local, seconds=False),
    )


def local_text(moment: ScheduledMoment, *, capitalized: bool = False) -> SafeString:
    """Render a moment in its own time zone: `today, 2:00 PM`.

    While it is another day there than where the viewer is, with the date: `29 Nov, 2:00 PM`.
    """
    today = timezone.localdate()
    with timezone.override(moment.known_zone):
        return planned_moment(
            moment.instant,
            capitalized=capitalized,
            has_relative_day=timezone.localdate() == today,
        )


def place_of(zone: str) -> str:
    """Return the city of a time zone, such as `Oslo`."""
    return zone.rpartition("/")[2].replace("_", " ")


def utc_text(moment: ScheduledMoment) -> str:
    """Format a moment in UTC: `1:00 PM UTC`, with the day if it differs from the local day."""
    utc = moment.instant.astimezone(UTC)
    day = "" if utc.date() == moment.local.date() else f"{active_formats().day(utc)}, "
    return f"{day}{clock_time(utc)} UTC"


def unknown_zone_note(moment: ScheduledMoment) -> str:
    if moment.is_zone_known or not moment.zone:
        return ""
    return f"This machine doesn’t know the time zone {moment.zone}, so the time is shown in UTC."


def skipped_time_note(moment: ScheduledMoment) -> str:
    skipped, local, formats = moment.skipped, moment.local, active_formats()
    if skipped is None:
        return ""
    day = "" if local.date() == skipped.date() else f" on {formats.day(local, 'dated')}"
    return (
        f"{clock_time(skipped)} doesn’t exist on {formats.day(skipped, 'dated')}, "
        f"as clocks go forward. The next valid time is {clock_time(local)}{day}."
    )


def repeated_time_problem(error: AmbiguousTimeError) -> str:
    local = error.first.local
    day = active_formats().day(local, "dated")
    return f"{clock_time(local)} occurs twice on {day}. Choose the first or the second."


def clock_time(value: datetime) -> str:
    return active_formats().time(value, seconds=False)


def local_clock_time(value: datetime) -> str:
    return clock_time(timezone.localtime(value))


def time_until(value: datetime) -> str:
    """Return the time until a moment, to the minute: `in 6 h 35 min`, `8 min late`."""
    seconds = (value - clock.now()).total_seconds()
    if -60 < seconds < 60:
        return "now"
    rounded = duration(timedelta(minutes=int(abs(seconds) // 60)))
    return f"in {rounded}" if seconds > 0 else f"{rounded} late"
