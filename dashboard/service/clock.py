"""How far the service's clock is ahead of ours, by the `Date` of its responses.

The service's dates are compared with its own clock, so that a version isn't in progress for a
negative time.
"""

from datetime import datetime, timedelta

from django.core.cache import cache

from dashboard.client import CallReport

TOLERANCE_S = 30
"""Clocks that differ by less count as equal: `Date` has whole seconds, and responses take time.
Source: our choice."""
_MIN_CHANGE_S = 5
_CACHE_S = 60 * 60
_KEY = "service:clock-ahead:1"


def record_clock(report: CallReport) -> None:
    """Record by how much the clocks differ; written only if that has changed."""
    if report.clock_ahead_s is None:
        return
    ahead_s = round(report.clock_ahead_s) if abs(report.clock_ahead_s) >= TOLERANCE_S else 0
    if abs(ahead_s - cache.get(_KEY, 0)) >= _MIN_CHANGE_S:
        cache.set(_KEY, ahead_s, timeout=_CACHE_S)


def clock_ahead() -> timedelta:
    """Return how far the service's clock is ahead of ours; negative if it is behind."""
    return timedelta(seconds=cache.get(_KEY, 0))


def service_time(now: datetime) -> datetime:
    """Return what the service's clock shows now."""
    return now + clock_ahead()
