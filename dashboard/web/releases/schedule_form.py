"""The form for when to publish: now, at a time, or once approved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils import timezone
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.schedules import AmbiguousTimeError, ScheduledMoment, parse_moment
from dashboard.web.releases.markup import clock_time, utc_text
from dashboard.web.ui.formats import BROWSER_CHOICE, Choices, current_zone_name, zone_choices

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
    def of_release(cls, release: Release) -> "ScheduleForm":
        """Return the form with the schedule of a release; for a draft, today without a time."""
        moment = release.scheduled_moment
        form = replace(cls.initial(), when=SCHEDULE)
        if moment is None:
            return form
        form = replace(form, zone=str(moment.known_zone))
        if release.state != ReleaseState.SCHEDULED:
            return form
        as_typed = moment.as_typed if moment.is_zone_known else f"{moment.local:%Y-%m-%d %H:%M}"
        date, time, *fold = as_typed.split()
        return replace(form, date=date, time=time, fold="".join(fold).strip("()"), moment=moment)

    @classmethod
    def from_params(cls, params: Mapping[str, str], *, when: str = "") -> "ScheduleForm":
        when, then = when or params.get("when", ""), params.get("then", "")
        form = replace(
            cls.initial(),
            when=when if when in (SCHEDULE, APPROVAL) else NOW,
            then=then if then == SCHEDULE else NOW,
            note=params.get("note", ""),
        )
        if not form.is_later:
            return form
        date, time, fold = (params.get(name, "") for name in ("date", "time", "fold"))
        zone = params.get("zone", form.zone)
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
