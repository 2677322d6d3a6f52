"""The service's health is of the calls that were made in the last sixty minutes."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache

from dashboard.client import APIError, CallReport, NotReachedError
from dashboard.web.service_health import MINUTES, SLOW_MS, health_now, note_call


@pytest.fixture(autouse=True)
def _no_calls_yet() -> None:
    cache.clear()


def call(
    *, minutes_ago: float, duration_ms: float = 20, error: APIError | None = None
) -> CallReport:
    return CallReport(
        operation="List pages",
        method="GET",
        path="/v0/pages",
        started_at=datetime.now(UTC) - timedelta(minutes=minutes_ago),
        duration_ms=duration_ms,
        status_code=None if error else 200,
        error=error,
        attempts=1,
    )


def test_where_no_call_was_made_nothing_is_known() -> None:
    health = health_now()
    assert (health.is_answering, health.median_ms, health.asked) == (None, None, 0)
    assert health.minutes == [None] * MINUTES


def test_calls_count_for_an_hour_whichever_hours_of_the_clock_they_were_in() -> None:
    for minutes_ago in (70, 62, 58, 31, 1):
        note_call(call(minutes_ago=minutes_ago))
    health = health_now()
    assert (len(health.minutes), health.asked) == (MINUTES, 3)
    # Oldest first; a minute may end between the calls and the look.
    places = [place for place, minute in enumerate(health.minutes) if minute]
    expected = ((0, 1), (27, 28), (57, 58))
    assert all(place in known for place, known in zip(places, expected, strict=True))


def test_a_call_of_more_than_an_hour_ago_says_nothing_of_now() -> None:
    note_call(call(minutes_ago=62))
    assert health_now().is_answering is None


def test_calls_of_one_minute_are_one_tally() -> None:
    for duration_ms in (10, 30, SLOW_MS + 1):
        note_call(call(minutes_ago=0, duration_ms=duration_ms))
    note_call(call(minutes_ago=0, error=NotReachedError("The service was not reached.")))
    health = health_now()
    assert (health.median_ms, health.slow, health.failed, health.is_answering) == (30, 1, 1, False)
    assert sum(minute.calls for minute in health.minutes if minute) == 4


def test_the_last_call_says_whether_it_answers() -> None:
    note_call(call(minutes_ago=1, error=NotReachedError("The service was not reached.")))
    note_call(call(minutes_ago=0))
    assert health_now().is_answering is True
