"""The form for when to publish: now, at a time, or once approved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC

from django.utils import timezone
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.releases.errors import ReleaseError
from dashboard.releases.schedules import AmbiguousTimeError, ScheduledMoment, parse_moment
from dashboard.web.releases.markup import clock_time
from dashboard.web.ui.formats import (
    BROWSER_CHOICE,
    Choices,
    active_formats,
    current_zone_name,
    zone_choices,
)

NOW, SCHEDULE, APPROVAL = "now", "schedule", "approval"
"""Values of `when`. The first two are also values of `then`, which applies after approval."""
MOMENT_FIELDS = ("date", "time", "zone", "fold")
"""Fields that show their problem next to them, as the note does."""


@dataclass(frozen=True)
class FoldChoice:
    """One of the two moments of a time that occurs twice, as clocks go back."""

    value: str
    label: str
    detail: str


@dataclass(frozen=True)
class ScheduleForm:
    """The fields as typed. If it is for later, they give a `moment` or an `error`."""

    when: str = NOW
    then: str = NOW
    date: str = ""
    time: str = ""
    zone: str = ""
    fold: str = ""
    note: str = ""
    moment: ScheduledMoment | None = None
    error: ReleaseError | None = None

    @classmethod
    def initial(cls, *, needs_approval: bool = False) -> "ScheduleForm":
        """Return the initial form: now if allowed, with today's date in the viewer's time zone."""
        today = timezone.localdate().isoformat()
        zone = current_zone_name()
        return cls(APPROVAL if needs_approval else NOW, date=today, zone=zone)

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "ScheduleForm":
        when, then = params.get("when", ""), params.get("then", "")
        form = replace(
            cls.initial(),
            when=when if when in (SCHEDULE, APPROVAL) else NOW,
            then=then if then == SCHEDULE else NOW,
            note=params.get("note", ""),
        )
        if not form.is_later:
            return form
        date, time, zone, fold = (params.get(name, "") for name in MOMENT_FIELDS)
        form = replace(form, date=date, time=time, zone=zone, fold=fold)
        try:
            moment = parse_moment(date, time, zone, fold=fold, now=clock.now())
            return replace(form, moment=moment)
        except ReleaseError as error:
            return replace(form, error=error)

    @property
    def is_later(self) -> bool:
        return self.when == SCHEDULE or (self.asks_approval and self.then == SCHEDULE)

    @property
    def is_now(self) -> bool:
        return self.when == NOW

    @property
    def asks_approval(self) -> bool:
        return self.when == APPROVAL

    @property
    def until_complete(self) -> "ScheduleForm":
        """The form, without its error while the date or the time is still empty."""
        return self if self.date and self.time else replace(self, error=None)

    @property
    def zones(self) -> Choices:
        return [choice for choice in zone_choices() if choice != BROWSER_CHOICE]

    @cached_property
    def ambiguous(self) -> AmbiguousTimeError | None:
        """The two moments of a time that occurs twice on that day, even if one is chosen."""
        try:
            parse_moment(self.date, self.time, self.zone, now=clock.now())
        except AmbiguousTimeError as error:
            return error
        except ReleaseError:
            pass
        return None

    @property
    def fold_choices(self) -> list[FoldChoice]:
        if self.ambiguous is None:
            return []
        words = {"first": ("First", "Before"), "second": ("Second", "After")}
        return [
            FoldChoice(
                value,
                f"{words[value][0]} {clock_time(moment.local)}",
                f"{words[value][1]} clocks go back, {utc_text(moment)}",
            )
            for value, moment in self.ambiguous.choices
        ]

    @property
    def problem(self) -> str:
        """The problem that belongs to no field, or ""."""
        return self.problem_of("")

    def problem_of(self, field: str) -> str:
        if self.error is None or isinstance(self.error, AmbiguousTimeError):
            return ""
        has_field = self.error.field in (*MOMENT_FIELDS, "note")
        return str(self.error) if field == (self.error.field if has_field else "") else ""


def place_of(zone: str) -> str:
    """Return the city of a time zone, such as `Oslo`."""
    return zone.rpartition("/")[2].replace("_", " ")


def utc_text(moment: ScheduledMoment) -> str:
    """Format a moment in UTC: `1:00 PM UTC`, with the day if it differs from the local day."""
    utc = moment.instant.astimezone(UTC)
    day = "" if utc.date() == moment.local.date() else f"{active_formats().day(utc)}, "
    return f"{day}{clock_time(utc)} UTC"
