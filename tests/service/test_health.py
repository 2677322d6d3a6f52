"""The service's health covers the calls of the last sixty minutes."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.test import Client

from dashboard.client import APIError, CallReport, ConnectError
from dashboard.service.health import MINUTES, SLOW_MS, health_now, record_call
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.one_audience import address, serve

pytestmark = pytest.mark.django_db


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
    assert (health.is_responding, health.median_ms, health.active_minutes) == (None, None, 0)
    assert health.minutes == [None] * MINUTES


def test_calls_count_for_an_hour() -> None:
    for minutes_ago in (70, 62, 58, 31, 1):
        record_call(call(minutes_ago=minutes_ago))
    health = health_now()
    assert (len(health.minutes), health.active_minutes) == (MINUTES, 3)
    # Oldest first. A minute may end between the calls and the read.
    places = [place for place, minute in enumerate(health.minutes) if minute]
    expected = ((0, 1), (27, 28), (57, 58))
    assert all(place in expected for place, expected in zip(places, expected, strict=True))


def test_a_call_from_an_hour_ago_is_not_counted() -> None:
    record_call(call(minutes_ago=62))
    assert health_now().is_responding is None


def test_calls_within_a_minute_share_a_tally() -> None:
    for duration_ms in (10, 30, SLOW_MS + 1):
        record_call(call(minutes_ago=0, duration_ms=duration_ms))
    record_call(call(minutes_ago=0, error=ConnectError("The service was not reached.")))
    health = health_now()
    assert (health.median_ms, health.slow, health.failed, health.is_responding) == (30, 1, 1, False)
    assert sum(minute.calls for minute in health.minutes if minute) == 4


def test_the_last_call_says_whether_it_answers() -> None:
    record_call(call(minutes_ago=1, error=ConnectError("The service was not reached.")))
    record_call(call(minutes_ago=0))
    assert health_now().is_responding is True


class CountedCache(LocMemCache):
    """Counts accesses, which would be round trips to a shared cache."""

    trips: Counter[str] = Counter()

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        """Return the cached values; one trip."""
        self.trips["get_many"] += 1
        get = super().get
        return {key: value for key in keys if (value := get(key)) is not None}

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return the cached value; one trip."""
        self.trips["get"] += 1
        return super().get(key, default, version)

    def set_many(self, data: Any, *args: Any, **kwargs: Any) -> list[Any]:
        """Cache the values; one trip."""
        self.trips["set_many"] += 1
        for key, value in data.items():
            super().set(key, value, *args, **kwargs)
        return []

    def set(self, key: Any, *args: Any, **kwargs: Any) -> None:
        """Cache a value; one trip."""
        self.trips["set"] += 1
        super().set(key, *args, **kwargs)


def test_a_call_costs_one_cache_read_and_write(
    as_publisher: Client, fake_service: FakeService, settings: Any
) -> None:
    serve(fake_service, wire.audience())
    settings.CACHES = {"default": {"BACKEND": f"{__name__}.CountedCache"}}
    publish = address("version-publish", "ver_2")
    as_publisher.get(publish)
    fake_service.sent.clear()
    CountedCache.trips.clear()
    assert as_publisher.get(publish).status_code == 200
    assert len(fake_service.sent) == 3
    trips = CountedCache.trips
    assert trips["set"] + trips["set_many"] == 1
    # One for each call, one for the usual times, two for the sidebar (counts and health), and one
    # for writing the health.
    assert trips["get"] + trips["get_many"] <= 3 + 1 + 2 + 1
