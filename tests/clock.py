"""A clock that a test can advance."""

import time
from dataclasses import dataclass

import pytest


@dataclass
class Clock:
    """A monotonic clock, ahead of the real one."""

    ahead_s: float = 0.0

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.ahead_s += seconds


def advanced_by_hand(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace `time.monotonic` by a clock, for the rest of a test."""
    clock, real = Clock(), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + clock.ahead_s)
    return clock
