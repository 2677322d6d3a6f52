"""The geometry of small charts, which templates render as SVG. Units are the viewBox's.

Coordinates are text, so that they are not localised. Tones are the classes of chart.css:
`bar-done` plain, `bar-failed` bad, `bar-unsure` an outline for what is unsure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TONES = ("bar-done", "bar-failed", "bar-unsure")
STEPS = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
"""Factors of a power of ten that make a round number."""
BAR_SHARE = 0.7
"""The width of a bar, as a share of the column."""


@dataclass(frozen=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    tone: str


@dataclass(frozen=True)
class PlotArea:
    """The size of the plot, and the value at its upper edge."""

    width: float
    height: float
    top: float

    def y(self, value: float) -> float:
        """Return the y coordinate of a value, counted from above."""
        return self.height * (1 - value / self.top)


def round_top(highest: float) -> int:
    """Return the least of 2, 4, 6, 8, 10, 12, 16, 20, 30, … that is not below the highest value.

    Each is even, so that its half is a whole number for the axis.
    """
    power = 10 ** math.floor(math.log10(max(highest, 2)))
    tops = (step * power for step in STEPS)
    return next(int(top) for top in tops if top >= highest and top % 2 == 0)


def stacked_bars(columns: Sequence[Sequence[int]], plot: PlotArea) -> list[Bar]:
    """Return stacked bars, each column's first value at the bottom."""
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
    """Return the points of a line; None leaves a point out."""
    room = plot.width / max(1, len(values))
    return " ".join(
        f"{(number + 0.5) * room:.1f},{plot.y(value):.1f}"
        for number, value in enumerate(values)
        if value is not None
    )


def band(lower: Sequence[float | None], upper: Sequence[float | None], plot: PlotArea) -> str:
    """Return the points of the area between two lines."""
    return " ".join(line(upper, plot).split() + line(lower, plot).split()[::-1])


def minute_bars(tones: Iterable[str]) -> list[Bar]:
    """Return one bar per minute, every 4 units, of a height by tone; "" is no bar."""
    tops = {"bar-done": 2, "bar-unsure": 8, "bar-failed": 14}
    shown = ((number, tone) for number, tone in enumerate(tones) if tone)
    return [_bar(4 * number, tops[tone], 2.6, 18 - tops[tone], tone) for number, tone in shown]


def _bar(x: float, y: float, width: float, height: float, tone: str) -> Bar:
    return Bar(f"{x:.1f}", f"{y:.1f}", f"{width:.1f}", f"{height:.1f}", tone)
