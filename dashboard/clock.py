"""The database's time, durations in words, and the time limits of a call.

Records, comparisons and expiry use the database's clock, because the clocks of two servers may
differ by minutes. Each process measures how far the database's clock is ahead of its own, and
corrects its time by that.

The limits build on one another. A change is recorded, its call begins within MAX_DELAY and takes at
most SERVICE_TIMEOUT_S, and its outcome is recorded within MARGIN. Source: our choice, all of them.
"""

import logging
import time
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

MAX_DIFFERENCE_S = 2
"""A larger difference, in seconds, raises a warning: other programs on this machine don't correct
it. Source: our choice."""

MARGIN = timedelta(seconds=settings.DATABASE_TIMEOUT_S)
"""Time to record the outcome of a call. Equals the time that a statement may take, which is also
how long SQLite's writers wait."""
MAX_DELAY = timedelta(seconds=10)
"""Longest time from recording an attempt to its call. If the process was suspended for longer, the
checks before the call are too old."""
RENEWED_AFTER = timedelta(seconds=5)
"""Interval between two renewals of a claim while its worker waits."""
CLAIM = MAX_DELAY + RENEWED_AFTER
"""How long a claim lasts without a renewal; a killed worker's row waits as long. Every call that a
worker may still begin is covered by a claim, even if the clocks of two machines differ slightly."""

_logger = logging.getLogger(__name__)
_correction = timedelta()


def now() -> datetime:
    """Return the time by the database's clock. No query."""
    return timezone.now() + _correction


def correction() -> timedelta:
    """Return how far the database's clock is ahead of this machine's; negative if behind."""
    return _correction


def correct_by(correction: timedelta) -> None:
    global _correction  # noqa: PLW0603  # one for the process
    _correction = correction


def warning() -> str:
    """Return a sentence if this machine's clock is wrong, else an empty string."""
    ahead_s = -_correction.total_seconds()
    if abs(ahead_s) <= MAX_DIFFERENCE_S:
        return ""
    direction = "ahead of" if ahead_s > 0 else "behind"
    return f"This server’s clock is {abs(ahead_s):,.0f} s {direction} the database’s."


def measure(connection: Any = connection, **_: object) -> None:
    """Measure the correction. If that fails, the last one stays in force.

    Receiver of Django's connection_created: each server thread opens a connection every minute
    (CONN_MAX_AGE). A worker also measures with its heartbeat. SQLite runs on this machine and needs
    no correction.
    """
    if connection.vendor != "postgresql":
        return
    try:
        sent_at = time.time()
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
            [seconds] = cursor.fetchone()
        round_trip_s = time.time() - sent_at
    except Error:
        _logger.warning("The database's clock could not be read", exc_info=True)
        return
    measured_s = float(seconds) - (sent_at + round_trip_s / 2)
    # The clock was read at an unknown moment of the round trip. A difference of up to half of it
    # proves no change.
    if abs(measured_s - _correction.total_seconds()) > round_trip_s / 2:
        correct_by(timedelta(seconds=measured_s))
        if difference := warning():
            _logger.warning(difference)


def in_words(duration: timedelta | float) -> str:
    """Return a duration in words, such as `0.4 s`, `18 min 04 s` or `3 days 4 h`.

    A number counts seconds. The duration is 0 or more. Pages, notifications and the reasons of
    releases use the same words.
    """
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if 0 < minutes < 60 and rest:
        return f"{minutes} min {rest:02} s"
    return in_minutes(round(seconds))


def in_minutes(duration: timedelta | float) -> str:
    """Return a duration in words, like relative-times.js: no seconds after the first minute."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    minutes = int(seconds) // 60
    hours, days = minutes // 60, minutes // (24 * 60)
    if minutes == 0:
        return f"{int(seconds)} s"
    if hours == 0:
        return f"{minutes} min"
    if days == 0:
        return f"{hours} h {minutes % 60:02} min"
    return f"{days} day{'s' if days != 1 else ''} {hours % 24} h"


def call_limit() -> timedelta:
    """Return the maximum duration of a call to the service, including retries and waits."""
    return timedelta(seconds=settings.SERVICE_TIMEOUT_S)


def interrupted_after() -> timedelta:
    """Return the age at which an attempt can no longer be waiting for a response."""
    return MAX_DELAY + call_limit() + MARGIN


def recorded_after() -> timedelta:
    """Return the longest time from the start of a read until it is recorded."""
    return call_limit() + MARGIN


def request_limit() -> timedelta:
    """Return the maximum duration of a request: a publish first reads, then sends."""
    return call_limit() + interrupted_after()
