"""A figure beside its goal, and the tables that figures are shown in."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10

from rich.markup import escape
from rich.table import Table

HEADINGS = ("what", "figure", "goal", "", "measured beside it")
RIGHT = ("figure", "goal")


@dataclass(frozen=True)
class Figure:
    """What was measured. It meets its goal at the goal or below, or above where more is better."""

    what: str
    value: float
    goal: float | None = None
    """None where it is told for comparison alone."""
    unit: str = ""
    beside: str = ""
    """The peer, or the two sides of a ratio, as measured in the same run."""
    more_is_better: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """What stands under each of HEADINGS."""
        sign = "≥" if self.more_is_better else "≤"
        goal = "" if self.goal is None else f"{sign} {self._said(self.goal)}"
        verdict = {None: "", True: "met", False: "missed"}[self.is_met]
        return (self.what, self._shown, goal, verdict, self.beside)

    @property
    def _shown(self) -> str:
        """The figure in three digits, or in as many as tell a miss from the goal."""
        goal = None if self.is_met or self.goal is None else self._said(self.goal)
        shown = (self._said(self.value, digits) for digits in range(3, 12))
        return next(said for said in shown if said != goal)

    def _said(self, value: float, digits: int = 3) -> str:
        before_point = floor(log10(abs(value))) + 1 if value else 1
        text = f"{value:,.{max(digits - before_point, 0)}f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {self.unit}".strip()


@dataclass(frozen=True)
class Unmeasured:
    """What could not be measured, and why, in one line."""

    what: str
    why: str

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """What stands under each of HEADINGS."""
        return (self.what, "not measured", "", "", self.why)


Row = Figure | Unmeasured


def as_table(title: str, rows: Iterable[Row]) -> Table:
    """Return the table for a terminal."""
    table = Table(title=title, title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in RIGHT else "left")
    for row in rows:
        what, value, goal, verdict, beside = map(escape, row.cells)
        colour = {"met": "green", "missed": "red"}.get(verdict, "default")
        table.add_row(what, value, goal, f"[{colour}]{verdict}[/]", beside)
    return table


def as_markdown(rows: Iterable[Row]) -> str:
    """Return the table for a README: a missed goal stands out without colour."""
    edges = ("---:" if heading in RIGHT else "---" for heading in HEADINGS)
    lines = [_line(HEADINGS), _line(edges)]
    for row in rows:
        what, value, goal, verdict, beside = row.cells
        lines.append(_line((what, value, goal, verdict.replace("missed", "**missed**"), beside)))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
