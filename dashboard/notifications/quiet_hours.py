"""When an event may be sent by e-mail and webhook: after the window and quiet hours. Pure."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dashboard.notifications.models import NotificationSettings


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name; UTC if the name is empty or unknown."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def end_of_quiet(chosen: NotificationSettings, now: datetime) -> datetime | None:
    """Return when the current quiet hours end, or None outside them.

    They begin and end by local time, so a night when clocks change is longer or shorter.
    """
    start, end = chosen.quiet_from, chosen.quiet_to
    if start is None or end is None or start == end:
        return None
    zone = zone_of(chosen.time_zone)
    local = now.astimezone(zone)
    clock = local.time().replace(fold=0)
    is_quiet = start <= clock < end if start < end else clock >= start or clock < end
    if not is_quiet:
        return None
    days = 1 if clock >= end else 0
    day = local.date() + timedelta(days=days)
    return datetime.combine(day, end, tzinfo=zone).astimezone(UTC)


def due_at(
    now: datetime, window: timedelta, chosen: NotificationSettings | None, *, is_urgent: bool
) -> datetime:
    soonest = now + window
    quiet_until = None if chosen is None or is_urgent else end_of_quiet(chosen, now)
    return max(soonest, quiet_until) if quiet_until else soonest


def is_ready(
    due: Iterable[datetime], now: datetime, *, window: timedelta, longest: timedelta
) -> bool:
    """Return whether one recipient's items, due at these times, may go into one message now.

    They wait until nothing has been added for `window`, but at most `longest` after the first.
    Items due later than `window` from now wait for quiet hours and don't count.
    """
    current = [at for at in due if at <= now + window]
    if not current or min(current) > now:
        return False
    return max(current) <= now or now - min(current) >= longest - window
