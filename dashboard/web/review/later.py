"""When an item comes back: a choice from the menu, or a date and time from the form."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from dashboard import clock
from dashboard.releases.schedules import parse_moment
from dashboard.web.ui.formats import current_zone_name

MORNING = time(9)
"""Source: our choice."""


@dataclass(frozen=True)
class LaterChoice:
    value: str
    label: str
    at: datetime | None
    """None until the text changes."""


def later_choices() -> list[LaterChoice]:
    """Return the choices, computed in the user's time zone."""
    now = timezone.localtime(clock.now())
    return [
        LaterChoice("hours", "In 2 hours", now + timedelta(hours=2)),
        LaterChoice("tomorrow", "Tomorrow", _morning(now, 1)),
        LaterChoice("monday", "Next Monday", _morning(now, 7 - now.weekday())),
        LaterChoice("text", "When its text changes", None),
    ]


def _morning(now: datetime, days: int) -> datetime:
    day = (now + timedelta(days=days)).date()
    return timezone.make_aware(datetime.combine(day, MORNING))


def later_columns(fields: QueryDict) -> dict[str, Any]:
    """Return the columns of a decision that say when the item comes back.

    Raises ReleaseError if the date or time is invalid.
    """
    zone = fields.get("zone") or current_zone_name()
    choices = {choice.value: choice.at for choice in later_choices()}
    until, text = choices.get(fields.get("later", "")), ""
    if until:
        text = f"{until:%Y-%m-%d %H:%M}"
    elif fields.get("later") not in choices:
        moment = parse_moment(
            fields.get("date", ""),
            fields.get("time", ""),
            zone,
            fold=fields.get("fold", ""),
            now=clock.now(),
        )
        until, text = moment.instant, moment.as_typed
    return {
        "until": until,
        "time_zone": zone if until else "",
        "until_as_typed": text,
        "is_for_team": fields.get("scope") == "team",
    }
