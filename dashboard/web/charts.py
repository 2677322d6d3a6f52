"""Numbers to the geometry of small charts, which templates draw as SVG. Units: the viewBox's.

Coordinates are text, so that no locale puts a comma into them. Tones are the classes of
chart.css: `c-1` plain, `c-2` bad, `c-3` an outline for what is unsure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TONES = ("c-1", "c-2", "c-3")
STEPS = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
"""What a power of ten is taken by to make a round number."""
BAR_SHARE = 0.7
"""Of the room for one day, how much its bar takes."""


@dataclass(frozen=True)
class Bar:
    """One rectangle."""

    x: str
    y: str
    width: str
    height: str
    tone: str


@dataclass(frozen=True)
class Plane:
    """The drawing's size, and the value at its upper edge."""

    width: float
    height: float
    top: float

    def y(self, value: float) -> float:
        """Return the height at which a value stands, counted from above."""
        return self.height * (1 - value / self.top)


def round_top(highest: float) -> int:
    """Return the least of 2, 4, 6, 8, 10, 12, 16, 20, 30, … that is not below the highest value.

    Each is even, so that its half can be written beside the axis.
    """
    power = 10 ** math.floor(math.log10(max(highest, 2)))
    tops = (step * power for step in STEPS)
    return next(int(top) for top in tops if top >= highest and top % 2 == 0)


def stacked_bars(columns: Sequence[Sequence[int]], plane: Plane) -> list[Bar]:
    """Return bars for columns of values, each column's first value at the bottom."""
    room = plane.width / max(1, len(columns))
    bars: list[Bar] = []
    for number, values in enumerate(columns):
        below = 0
        x = number * room + room * (1 - BAR_SHARE) / 2
        for tone, value in zip(TONES, values, strict=False):
            if value:
                top, bottom = plane.y(below + value), plane.y(below)
                bars.append(_bar(x, top, room * BAR_SHARE, bottom - top, tone))
            below += value
    return bars


def line(values: Sequence[float | None], plane: Plane) -> str:
    """Return the points of a line through what is known; None leaves a point out."""
    room = plane.width / max(1, len(values))
    return " ".join(
        f"{(number + 0.5) * room:.1f},{plane.y(value):.1f}"
        for number, value in enumerate(values)
        if value is not None
    )


def band(lower: Sequence[float | None], upper: Sequence[float | None], plane: Plane) -> str:
    """Return the points of the area between two lines."""
    there = line(upper, plane).split()
    back = line(lower, plane).split()[::-1]
    return " ".join(there + back)


def minute_bars(tones: Iterable[str], *, pitch: float = 4.0, width: float = 2.6) -> list[Bar]:
    """Return one bar a minute, told apart by height as well as by tone; "" draws none."""
    heights = {"c-1": (2, 16), "c-3": (8, 10), "c-2": (14, 4)}
    return [
        _bar(number * pitch, heights[tone][0], width, heights[tone][1], tone)
        for number, tone in enumerate(tones)
        if tone
    ]


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least `share` of them do not exceed; None of none."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _bar(x: float, y: float, width: float, height: float, tone: str) -> Bar:
    return Bar(f"{x:.1f}", f"{y:.1f}", f"{width:.1f}", f"{height:.1f}", tone)
