"""Clocks that a test can advance."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from django.utils import timezone


@dataclass
class Clock:
    """A clock, so many seconds ahead of another."""

    ahead_s: float = 0.0

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.ahead_s += seconds


def advanced_by_hand(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace `time.monotonic` by a clock, for the rest of a test."""
    clock, real = Clock(), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + clock.ahead_s)
    return clock


def stopped(
    monkeypatch: pytest.MonkeyPatch, *, at: datetime | None = None, tick_s: float = 0
) -> Clock:
    """Stop `timezone.now` for the rest of a test; it goes on where the test advances it.

    With `tick_s`, each reading of it takes that long.
    """
    clock, start = Clock(), at or timezone.now()

    def now() -> datetime:
        reading = start + timedelta(seconds=clock.ahead_s)
        clock.advance(tick_s)
        return reading

    monkeypatch.setattr(timezone, "now", now)
    return clock
