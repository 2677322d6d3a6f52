"""When an item comes back: a choice from the menu, or a date and time from the form."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.utils import timezone

from dashboard import clock
from dashboard.releases.schedules import ScheduledMoment
from dashboard.web.releases.schedule_form import SCHEDULE, ScheduleForm
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


def later_form(fields: Mapping[str, str]) -> ScheduleForm:
    """Return the date and time of the form, as typed."""
    return ScheduleForm.from_params(fields, when=SCHEDULE)


def later_columns(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of a decision that say when the item comes back.

    Raises ReleaseError if the date or time is invalid.
    """
    choices = {choice.value: choice.at for choice in later_choices()}
    if fields.get("later") in choices:
        at = choices[fields["later"]]
        text = f"{at:%Y-%m-%d %H:%M}" if at else ""
        moment = ScheduledMoment(at, current_zone_name(), text) if at else None
    else:
        form = later_form(fields)
        if form.error:
            raise form.error
        moment = form.moment
    return {
        "until": moment.instant if moment else None,
        "time_zone": moment.zone if moment else "",
        "until_as_typed": moment.as_typed if moment else "",
        "is_for_team": fields.get("scope") == "team",
    }
