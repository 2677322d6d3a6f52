"""The time limits that depend on one another, each derived from the ones before it.

A change is recorded, its call begins within MAX_DELAY, takes SERVICE_TIMEOUT_S at most, and its
outcome is recorded within MARGIN. Source: our choice, all of them.
"""

from datetime import timedelta

from django.conf import settings

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
