"""A figure beside its goal, as a row of a table in Markdown."""

from dataclasses import dataclass

HEADER = "| what | figure | goal |  | measured beside it |\n| --- | ---: | ---: | --- | --- |"


@dataclass(frozen=True)
class Figure:
    """A measured value. `goal` is the most it may be, or the least with `more_is_better`.

    `value` is None if it could not be measured: `beside` then says why. Otherwise `beside` has the
    two sides of a ratio, or what else was measured in the same run.
    """

    what: str
    value: float | None
    goal: float | None = None
    unit: str = ""
    beside: str = ""
    more_is_better: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is met; None without a goal or a value."""
        if self.goal is None or self.value is None:
            return None
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal

    def __str__(self) -> str:
        """Return the row, with a missed goal in bold."""
        sign = "≥" if self.more_is_better else "≤"
        value = "not measured" if self.value is None else self._shown(self.value)
        goal = "" if self.goal is None else f"{sign} {self._shown(self.goal)}"
        verdict = {None: "", True: "met", False: "**missed**"}[self.is_met]
        cells = (self.what, value, goal, verdict, self.beside)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def _shown(self, value: float) -> str:
        """Return the value with its unit; a missed goal gets enough digits to differ from it."""
        digits = 3 if self.is_met is False or abs(value) < 10 else 1
        number = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
        return f"{number} {self.unit}".strip()
