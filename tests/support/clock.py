"""Clocks that a test can advance."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.clock import correct_by, correction


@dataclass
class Clock:
    """A clock that is `ahead_s` seconds ahead of another."""

    ahead_s: float = 0.0

    def advance(self, seconds: float) -> None:
        self.ahead_s += seconds


class ClockedStop(Event):
    """Waits by advancing the clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self._clock.advance(timeout or 0)
        return self.is_set()


def advanced_by_hand(monkeypatch: pytest.MonkeyPatch, clock: Clock | None = None) -> Clock:
    """Stop `time.monotonic` for the rest of the test, which can advance it, if need be by `clock`.

    It begins at a whole second, so that seconds add up exactly.
    """
    clock, start = clock or Clock(), math.ceil(time.monotonic())
    monkeypatch.setattr(time, "monotonic", lambda: start + clock.ahead_s)
    return clock


def stopped(
    monkeypatch: pytest.MonkeyPatch, *, at: datetime | None = None, tick_s: float = 0
) -> Clock:
    """Stop `timezone.now` for the rest of the test, which can advance it.

    Each reading advances it by `tick_s` seconds.
    """
    clock, start = Clock(), at or timezone.now()

    def now() -> datetime:
        reading = start + timedelta(seconds=clock.ahead_s)
        clock.advance(tick_s)
        return reading

    monkeypatch.setattr(timezone, "now", now)
    return clock


@contextmanager
def corrected_by(difference: timedelta) -> Iterator[None]:
    """During the block, treat the database's clock as this far ahead of the machine's."""
    before = correction()
    correct_by(difference)
    try:
        yield
    finally:
        correct_by(before)


@contextmanager
def on_server_ahead(seconds: float) -> Iterator[None]:
    """Run the block on a server that has measured its clock as ahead of the database's.

    Other threads run on that server, too.
    """
    ahead, of_day = timedelta(seconds=seconds), timezone.now
    with pytest.MonkeyPatch.context() as server, corrected_by(correction() - ahead):
        server.setattr(timezone, "now", lambda: of_day() + ahead)
        yield


@contextmanager
def database_ahead(seconds: float) -> Iterator[None]:
    """Advance PostgreSQL's clock for this thread's connection during the block."""
    with corrected_by(correction()), connection.cursor() as cursor:
        cursor.execute(
            "CREATE SCHEMA ahead;"
            "CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
            f" RETURN pg_catalog.clock_timestamp() + make_interval(secs => {seconds});"
            "SET search_path = ahead, public, pg_catalog"
        )
        try:
            yield
        finally:
            cursor.execute("RESET search_path; DROP SCHEMA ahead CASCADE")
