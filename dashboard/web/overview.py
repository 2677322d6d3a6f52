"""What the overview makes of the ledger's counts. Pure: nothing is read or written here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median

from django.utils import timezone

from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.queries.overview import DayCount
from dashboard.ledger.queries.queue_times import QueueTime
from dashboard.web.charts import (
    Bar,
    Plane,
    band,
    line,
    minute_bars,
    percentile,
    round_top,
    stacked_bars,
)
from dashboard.web.service_health import Health, Minute

DAYS = 14
"""How many days the charts show, today included."""
WIDTH, HEIGHT = 140, 60
LONG = timedelta(minutes=5)
COUNTED = (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.UNKNOWN)


@dataclass(frozen=True)
class Today:
    """The operations of today, in the reader's time zone."""

    published: int
    published_yesterday: int
    failed: int
    operations: int
    unknown: int
    """Of any age: they stay until somebody settles them."""


@dataclass(frozen=True)
class DayRow:
    """One day of publishing, or of waiting; `values` in the order of the chart's key."""

    day: date
    values: tuple[int | float | None, ...]


@dataclass(frozen=True)
class Chart:
    """A chart with the table that says the same."""

    rows: list[DayRow]
    """Oldest day first."""
    totals: tuple[int | float | None, ...]
    top: int
    bars: list[Bar]
    line: str = ""
    dashes: str = ""
    band: str = ""

    @property
    def days(self) -> tuple[date, date, date]:
        """The days named below it: the first, the middle one, the last."""
        return self.rows[0].day, self.rows[len(self.rows) // 2].day, self.rows[-1].day

    @property
    def newest_first(self) -> list[DayRow]:
        """The rows as a table has them."""
        return self.rows[::-1]

    @property
    def half(self) -> int:
        """Half the top, a whole number."""
        return self.top // 2

    @property
    def highest(self) -> DayRow | None:
        """The day with the highest first value; None where no day has any."""
        return max((row for row in self.rows if row.values[0]), key=_first, default=None)


def first_day(today: date) -> date:
    """Return the first day that the charts show."""
    return today - timedelta(days=DAYS - 1)


def sum_today(counts: Iterable[DayCount], today: date) -> Today:
    """Return the sums of today and of what is unknown."""
    counts, yesterday = list(counts), today - timedelta(days=1)

    def total(*, day: date | None = None, kind: str = "", outcome: str = "") -> int:
        return sum(
            c.count
            for c in counts
            if day in (None, c.day) and kind in ("", c.kind) and outcome in ("", c.outcome)
        )

    publish, accepted = Kind.PUBLISH_VERSION, Outcome.ACCEPTED
    return Today(
        published=total(day=today, kind=publish, outcome=accepted),
        published_yesterday=total(day=yesterday, kind=publish, outcome=accepted),
        failed=total(day=today, outcome=Outcome.REJECTED),
        operations=total(day=today),
        unknown=total(outcome=Outcome.UNKNOWN),
    )


def publishes_chart(counts: Iterable[DayCount], today: date) -> Chart:
    """Return publishes per day: done, failed, unknown."""
    found = {(c.day, c.outcome): c.count for c in counts if c.kind == Kind.PUBLISH_VERSION}
    columns = [[found.get((day, outcome), 0) for outcome in COUNTED] for day in _days(today)]
    plane = Plane(WIDTH, HEIGHT, round_top(max(sum(column) for column in columns)))
    return Chart(
        rows=[
            DayRow(day, tuple(column)) for day, column in zip(_days(today), columns, strict=True)
        ],
        totals=tuple(sum(values) for values in zip(*columns, strict=True)),
        top=int(plane.top),
        bars=stacked_bars(columns, plane),
    )


def queue_chart(times: Sequence[QueueTime], today: date) -> Chart:
    """Return the seconds taken per day: the median, and what 95 in 100 stayed within."""
    by_day: dict[date, list[float]] = {}
    for time in times:
        day = timezone.localdate(time.published_at)
        by_day.setdefault(day, []).append(time.took.total_seconds())
    rows = [DayRow(day, _middle_and_most(by_day.get(day, []))) for day in _days(today)]
    middles, mosts = [row.values[0] for row in rows], [row.values[1] for row in rows]
    every = [seconds for seconds_of_day in by_day.values() for seconds in seconds_of_day]
    plane = Plane(WIDTH, HEIGHT, round_top(max((m for m in mosts if m is not None), default=0)))
    return Chart(
        rows=rows,
        totals=_middle_and_most(every),
        top=int(plane.top),
        bars=[],
        line=line(middles, plane),
        dashes=line(mosts, plane),
        band=band(middles, mosts, plane),
    )


def health_bars(health: Health) -> list[Bar]:
    """Return one bar for each of the last sixty minutes."""
    return minute_bars(_tone(minute) for minute in health.minutes)


def waits_long(lasted: timedelta, chart: Chart) -> bool:
    """Whether a version is queued unusually long: past 95 in 100, and past five minutes."""
    usual_s = chart.totals[1] or 0
    return lasted > max(timedelta(seconds=usual_s), LONG)


def start_of(day: date) -> datetime:
    """Return midnight of a day, in the reader's time zone."""
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001


def _first(row: DayRow) -> float:
    return row.values[0] or 0


def _days(today: date) -> list[date]:
    return [first_day(today) + timedelta(days=n) for n in range(DAYS)]


def _middle_and_most(seconds: list[float]) -> tuple[float | None, float | None]:
    return (median(seconds) if seconds else None, percentile(seconds, 0.95))


def _tone(minute: Minute | None) -> str:
    if minute is None:
        return ""
    return "c-2" if minute.failed else "c-3" if minute.slow else "c-1"
