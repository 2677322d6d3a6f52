"""When an operation that brings no answer is left alone for a while: pure decisions.

One that hangs holds a thread for the whole time limit of a call, and a few people who try again
hold them all. After three silences in a row a read is refused at once; when the pause is over one
call goes through to see, and an answer of any kind ends it. Source: our choice.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

SILENCES = 3
"""In a row, before the first pause."""
PAUSES_S = (5.0, 10.0, 20.0, 40.0)
"""The first pause, and those after each look that brought silence again; the last one stays."""
HANGING_S = 5.0
"""A call that waits longer counts as silent before its time limit passes."""


@dataclass(frozen=True)
class Line:
    """How one operation has been answering. Times are in seconds since the epoch."""

    silences: int = 0
    asked_again_at: float = 0.0

    @property
    def is_broken(self) -> bool:
        """Whether it is left alone, but for one call at a time that looks."""
        return self.silences >= SILENCES

    def rest_s(self, now: float) -> float:
        """Return how long it is still left alone altogether; 0 where it may be asked."""
        return max(0.0, self.asked_again_at - now) if self.is_broken else 0.0

    def after_silence(self, now: float) -> "Line":
        """Return the line after a call that nobody answered."""
        line = replace(self, silences=self.silences + 1)
        if not line.is_broken:
            return line
        pause = PAUSES_S[min(line.silences - SILENCES, len(PAUSES_S) - 1)]
        return replace(line, asked_again_at=now + pause)


def silent_s(began: Iterable[float], *, answered: float, now: float) -> list[float]:
    """Return how long each call that waits has met with silence; all in seconds on one clock.

    An answer to any call, at `answered`, ends it for all: where we are slow ourselves, calls wait
    long beside a service that goes on answering.
    """
    return [now - max(since, answered) for since in began]


def is_hanging(silent_s: list[float], *, time_limit_s: float) -> bool:
    """Tell whether calls that are still waiting, each in silence for so long, are enough."""
    limit = min(HANGING_S, time_limit_s / 2)
    return sum(silent > limit for silent in silent_s) >= SILENCES
