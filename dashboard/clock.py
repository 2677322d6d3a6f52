"""The time by the database's clock, durations in words, and the limits of time.

What is recorded, compared, or expires goes by the database's clock. The clocks of two servers may
differ by minutes: each process measures how far the database's clock is ahead of its own, and
corrects by it.

The limits depend on one another, each derived from those before it: a change is recorded, its call
begins within MAX_DELAY, takes at most SERVICE_TIMEOUT_S, and its outcome is recorded within MARGIN.
Source: our choice, all of them.
"""

import logging
import time
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

MAX_DIFFERENCE_S = 2
"""A larger one is named: other programs of this machine don't correct it. Source: our choice."""

MARGIN = timedelta(seconds=settings.DATABASE_TIMEOUT_S)
"""To record the end of a call: as long as a statement may take, which SQLite's writers wait for."""
MAX_DELAY = timedelta(seconds=10)
"""From the record of an attempt to its call. If the process was suspended for longer, what was
checked before is too old."""
RENEWED_AFTER = timedelta(seconds=5)
"""Between two renewals of a claim, while its worker waits."""
CLAIM = MAX_DELAY + RENEWED_AFTER
"""Without a renewal. A killed worker's row waits as long. A call that a worker may still begin has
a claim, also if the clocks of two machines differ by a little."""

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
    """Return a sentence on a clock of this machine that is wrong; empty if it isn't."""
    ahead_s = -_correction.total_seconds()
    if abs(ahead_s) <= MAX_DIFFERENCE_S:
        return ""
    direction = "ahead of" if ahead_s > 0 else "behind"
    return f"This server's clock is {abs(ahead_s):,.0f} s {direction} the database's."


def measure(connection: Any = connection, **_: object) -> None:
    """Measure the correction. If that fails, the last one holds.

    A receiver of Django's connection_created: a thread of the server opens a connection each minute
    (CONN_MAX_AGE), and a worker also measures with its heartbeat. SQLite is on this machine.
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
    # The clock was read at some moment of the round trip: within half of it, nothing has changed.
    if abs(measured_s - _correction.total_seconds()) > round_trip_s / 2:
        correct_by(timedelta(seconds=measured_s))
        if difference := warning():
            _logger.warning(difference)


def in_words(duration: timedelta | float) -> str:
    """Return a duration, or seconds, of 0 or more: `0.4 s`, `18 min 04 s`, `3 days 4 h`.

    The words are the same on pages, in notifications and in reasons of releases.
    """
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if 0 < minutes < 60 and rest:
        return f"{minutes} min {rest:02} s"
    return in_minutes(round(seconds))


def in_minutes(duration: timedelta | float) -> str:
    """Return a duration without seconds after the first minute, as relative-times.js does."""
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
    """Return how long a call of the service takes at most, with its retries and its wait."""
    return timedelta(seconds=settings.SERVICE_TIMEOUT_S)


def interrupted_after() -> timedelta:
    """Return the age at which an attempt can no longer be waiting for a response."""
    return MAX_DELAY + call_limit() + MARGIN


def recorded_after() -> timedelta:
    """Return how long after its beginning a read is recorded at the latest."""
    return call_limit() + MARGIN


def request_limit() -> timedelta:
    """Return how long a request takes at most: a publish first reads, then sends."""
    return call_limit() + interrupted_after()
