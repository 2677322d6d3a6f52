"""Totals and charts of the overview, as pure functions of the ledger's counts.

Templates render the charts as SVG, in units of the viewBox. Coordinates are text so that they
are not localised. Tones are classes in chart.css: `bar-done` is plain, `bar-failed` is bad, and
`bar-unsure` outlines a value that is unsure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils import timezone

from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries.overview import DayCount
from dashboard.ledger.states import OperationState
from dashboard.operations.publish_progress import (
    DAYS,
    QueueTime,
    TypicalTimes,
    first_day,
    percentile,
    summarize_times,
)
from dashboard.service.health import Health

WIDTH, HEIGHT = 140, 60
LATE_AT_LEAST = timedelta(minutes=5)
COUNTED = (OperationState.LIVE, Outcome.REJECTED, Outcome.UNKNOWN)
TONES = ("bar-done", "bar-failed", "bar-unsure")
STEPS = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
"""Factors of a power of ten that make a round number."""
BAR_SHARE = 0.7
"""Width of a bar, as a share of its column."""


@dataclass(frozen=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    tone: str


@dataclass(frozen=True)
class PlotArea:
    """The size of a plot, and the value at its upper edge."""

    width: float
    height: float
    top: float

    def y(self, value: float) -> float:
        """Return the y coordinate of a value. It counts from the top edge."""
        return self.height * (1 - value / self.top)


@dataclass(frozen=True)
class Today:
    """What happened today, in the viewer's time zone."""

    published: int
    """Number of versions that went live, inside or outside Pressroom."""
    published_yesterday: int
    failed: int
    operations: int
    unknown: int
    """Number of unknown outcomes of any age; they remain until they are settled."""


@dataclass(frozen=True)
class DayRow:
    """The values of one day, in the order of the chart's legend."""

    day: date
    values: tuple[int | float | None, ...]


@dataclass(frozen=True)
class Chart:
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
        """The labels of the axis: the first, the middle and the last day."""
        return self.rows[0].day, self.rows[len(self.rows) // 2].day, self.rows[-1].day

    @property
    def used(self) -> list[DayRow]:
        """The days with any value. If there is only one, a sentence says as much as a chart."""
        return [row for row in self.rows if any(row.values)]

    @property
    def highest(self) -> DayRow | None:
        """The day with the highest first value; None if no day has one."""
        used = [row for row in self.rows if row.values[0]]
        return max(used, key=lambda row: row.values[0] or 0, default=None)


def sum_today(counts: Iterable[DayCount], today: date) -> Today:
    """Return the totals of today, and the total of unknown outcomes."""
    counts, yesterday = list(counts), today - timedelta(days=1)

    def total(*, day: date | None = None, outcome: str = "") -> int:
        return sum(c.count for c in counts if day in (None, c.day) and outcome in ("", c.outcome))

    published = total(day=today, outcome=OperationState.LIVE)
    return Today(
        published=published,
        published_yesterday=total(day=yesterday, outcome=OperationState.LIVE),
        failed=total(day=today, outcome=Outcome.REJECTED),
        operations=total(day=today) - published,
        unknown=total(outcome=Outcome.UNKNOWN),
    )


def chart_days(today: date) -> list[date]:
    """Return the days that the charts show, oldest first."""
    return [first_day(today) + timedelta(days=n) for n in range(DAYS)]


def publishes_chart(counts: Iterable[DayCount], today: date) -> Chart:
    """Return the chart of publishes per day: went live, failed, outcome unknown."""
    publishes = (c for c in counts if c.kind == OperationKind.PUBLISH_VERSION)
    by_day = {(c.day, c.outcome): c.count for c in publishes}
    days = chart_days(today)
    columns = [tuple(by_day.get((day, outcome), 0) for outcome in COUNTED) for day in days]
    plot = PlotArea(WIDTH, HEIGHT, round_top(max(sum(column) for column in columns)))
    return Chart(
        rows=[DayRow(day, column) for day, column in zip(days, columns, strict=True)],
        totals=tuple(sum(values) for values in zip(*columns, strict=True)),
        top=int(plot.top),
        bars=stacked_bars(columns, plot),
    )


def queue_chart(times: Sequence[QueueTime], today: date) -> Chart:
    """Return the chart of queue times per day in seconds: median and 95th percentile.

    The totals are the typical times, if there is enough data.
    """
    by_day: dict[date, list[float]] = {}
    zone = timezone.get_current_timezone()
    for time in times:
        day = time.published_at.astimezone(zone).date()
        by_day.setdefault(day, []).append(time.duration.total_seconds())
    days = chart_days(today)
    medians = [percentile(by_day.get(day, []), 0.5) for day in days]
    highs = [percentile(by_day.get(day, []), 0.95) for day in days]
    usual = summarize_times(times)
    plot = PlotArea(WIDTH, HEIGHT, round_top(max((m for m in highs if m is not None), default=0)))
    return Chart(
        rows=[DayRow(*row) for row in zip(days, zip(medians, highs, strict=True), strict=True)],
        totals=(usual.median.total_seconds(), usual.p95.total_seconds()) if usual else (None, None),
        top=int(plot.top),
        bars=[],
        line=line(medians, plot),
        dashes=line(highs, plot),
        band=band(medians, highs, plot),
    )


def health_bars(health: Health) -> list[Bar]:
    """Return a bar for each of the last sixty minutes with a call. The tone sets the height."""
    tops = {"bar-done": 2, "bar-unsure": 8, "bar-failed": 14}
    bars = []
    for number, minute in enumerate(health.minutes):
        if minute is not None:
            tone = "bar-failed" if minute.failed else "bar-unsure" if minute.slow else "bar-done"
            bars.append(_bar(4 * number, tops[tone], 2.6, 18 - tops[tone], tone))
    return bars


def late_after(usual: TypicalTimes | None) -> timedelta:
    """Return the time after which a version in progress is late: at least five minutes."""
    return max(usual.p95, LATE_AT_LEAST) if usual else LATE_AT_LEAST


def round_top(highest: float) -> int:
    """Return the first of 2, 4, 6, 8, 10, 12, 16, 20, 30, … that is at least `highest`.

    All are even, so that the middle of the axis is a whole number.
    """
    power = 10 ** math.floor(math.log10(max(highest, 2)))
    tops = (step * power for step in STEPS)
    return next(int(top) for top in tops if top >= highest and top % 2 == 0)


def stacked_bars(columns: Sequence[Sequence[int]], plot: PlotArea) -> list[Bar]:
    """Return stacked bars. The first value of a column is at the bottom."""
    room = plot.width / max(1, len(columns))
    bars: list[Bar] = []
    for number, values in enumerate(columns):
        below = 0
        x = number * room + room * (1 - BAR_SHARE) / 2
        for tone, value in zip(TONES, values, strict=False):
            if value:
                top, bottom = plot.y(below + value), plot.y(below)
                bars.append(_bar(x, top, room * BAR_SHARE, bottom - top, tone))
            below += value
    return bars


def line(values: Sequence[float | None], plot: PlotArea) -> str:
    """Return the points of a line. A value of None has no point."""
    room = plot.width / max(1, len(values))
    return " ".join(
        f"{(number + 0.5) * room:.1f},{plot.y(value):.1f}"
        for number, value in enumerate(values)
        if value is not None
    )


def band(lower: Sequence[float | None], upper: Sequence[float | None], plot: PlotArea) -> str:
    """Return the points of the area between two lines."""
    return " ".join(line(upper, plot).split() + line(lower, plot).split()[::-1])


def _bar(x: float, y: float, width: float, height: float, tone: str) -> Bar:
    return Bar(f"{x:.1f}", f"{y:.1f}", f"{width:.1f}", f"{height:.1f}", tone)
