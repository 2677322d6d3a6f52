"""When a message may be sent: bundling and quiet hours, as pure decisions."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dashboard.notifications.models import NotificationSettings
from dashboard.notifications.quiet_hours import due_at, end_of_quiet, is_ready

pytestmark = pytest.mark.same_on_any_database

WINDOW, LONGEST = timedelta(seconds=20), timedelta(seconds=60)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
TIMES = st.times(min_value=time(0, 0), max_value=time(23, 59)).map(
    lambda item: item.replace(second=0, microsecond=0, fold=0)
)

MOMENTS = st.integers(0, 10 * 365 * 24 * 60).map(lambda minutes: NOON + timedelta(minutes=minutes))


def chosen(
    start: time | None, end: time | None, zone: str = "Europe/Berlin"
) -> NotificationSettings:
    return NotificationSettings(quiet_from=start, quiet_to=end, time_zone=zone)


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-03-02T20:59:00", None),  # 21:59 in Berlin
        ("2026-03-02T21:00:00", "2026-03-03T06:00:00"),
        ("2026-03-02T23:30:00", "2026-03-03T06:00:00"),
        ("2026-03-03T05:59:00", "2026-03-03T06:00:00"),
        ("2026-03-03T06:00:00", None),
        # The night when clocks go forward is shorter; the other one is longer.
        ("2026-03-28T22:00:00", "2026-03-29T05:00:00"),
        ("2026-10-24T21:00:00", "2026-10-25T06:00:00"),
    ],
)
def test_quiet_hours_over_midnight(now: str, end: str | None) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    expected = datetime.fromisoformat(end).replace(tzinfo=UTC) if end else None
    assert end_of_quiet(chosen(time(22), time(7)), moment) == expected


def test_quiet_hours_within_a_day() -> None:
    lunch = chosen(time(12), time(13), "UTC")
    assert end_of_quiet(lunch, NOON) == NOON + timedelta(hours=1)
    assert end_of_quiet(lunch, NOON + timedelta(hours=1)) is None


@given(TIMES, TIMES, st.sampled_from(ZONES), MOMENTS)
def test_quiet_hours_end_at_their_end_within_a_day(
    start: time, end: time, zone: str, now: datetime
) -> None:
    assume(start != end)
    until = end_of_quiet(chosen(start, end, zone), now)
    if until:
        assert now < until <= now + timedelta(hours=25)
        local = until.astimezone(ZoneInfo(zone))
        # An end that the clocks skip is the same moment with the other offset.
        assert (
            local.time() == end or local.utcoffset() != now.astimezone(ZoneInfo(zone)).utcoffset()
        )


@given(TIMES, TIMES, st.sampled_from(ZONES), MOMENTS)
def test_what_is_urgent_never_waits_and_nothing_goes_earlier(
    start: time, end: time, zone: str, now: datetime
) -> None:
    night = chosen(start, end, zone)
    assert due_at(now, WINDOW, night, is_urgent=True) == now + WINDOW
    assert due_at(now, WINDOW, night, is_urgent=False) >= now + WINDOW


def test_an_unknown_zone_is_utc() -> None:
    assert end_of_quiet(chosen(time(12), time(13), "Mars/Olympus"), NOON)


def ready(*ages_s: float) -> bool:
    """Return whether events of these ages in seconds are sent now."""
    due = [NOON - timedelta(seconds=age) + WINDOW for age in ages_s]
    return is_ready(due, NOON, window=WINDOW, longest=LONGEST)


@pytest.mark.parametrize(
    ("ages_s", "goes"),
    [
        ((), False),
        ((5,), False),
        ((20,), True),
        ((30, 10), False),
        ((40, 20), True),
        ((59, 5), False),
        ((60, 0), True),
        ((300, 1), True),
    ],
)
def test_events_wait_20_to_60_seconds(ages_s: tuple[float, ...], goes: bool) -> None:
    assert ready(*ages_s) is goes


@given(st.lists(st.floats(0, 600), min_size=1))
def test_no_event_waits_for_longer_than_a_minute(ages_s: list[float]) -> None:
    assert ready(*ages_s, 60.0)


def test_what_waits_for_the_morning_holds_nothing_back() -> None:
    due = [NOON - timedelta(seconds=1), NOON + timedelta(hours=8)]
    assert is_ready(due, NOON, window=WINDOW, longest=LONGEST)
    assert not is_ready(due[1:], NOON, window=WINDOW, longest=LONGEST)
