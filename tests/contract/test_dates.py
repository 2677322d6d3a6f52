"""Dates: what we write can be parsed, and no input raises."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.wire import MARK_PREFIX, is_mark, read_date, read_timestamp, write_mark

moments = st.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001  # hypothesis adds the zone
    timezones=st.just(UTC),
)
letters = st.text("0123456789abcdefghijklmnopqrstuvwxyz", min_size=26, max_size=26)


@given(moments)
def test_a_mark_carries_its_moment_to_the_millisecond(moment: datetime) -> None:
    milliseconds = timedelta(microseconds=moment.microsecond % 1000)
    assert read_date(write_mark(moment)) == moment - milliseconds


@given(moments)
def test_a_mark_fits_the_pattern_of_the_spec(moment: datetime) -> None:
    assert re.fullmatch("accountlog_[a-z0-9]{26}", write_mark(moment))


@given(moments, moments)
def test_marks_sort_by_time(first: datetime, second: datetime) -> None:
    if abs(first - second) >= timedelta(milliseconds=1):
        assert (write_mark(first) < write_mark(second)) == (first < second)


def test_no_mark_is_made_twice() -> None:
    now = datetime.now(UTC)
    assert len({write_mark(now) for _ in range(1000)}) == 1000


@given(st.text() | letters.map(MARK_PREFIX.__add__) | st.text().map(MARK_PREFIX.__add__))
def test_junk_times_never_raise(text: str) -> None:
    moment = read_date(text)
    assert moment is None or moment.utcoffset() == timedelta(0)


@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_8601_durations_are_read(moment: datetime) -> None:
    assert read_date(moment.isoformat()) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        # RFC 9562's example of a UUIDv7 in base32: Tuesday, 22 February 2022, 19:22:22 GMT.
        ("accountlog_01fwhe4ydgfk1shh6w1g60eecf", datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("accountlog_zzzzzzzzzzzzzzzzzzzzzzzzzz", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_text_has_one_meaning(text: str | None, moment: datetime | None) -> None:
    assert read_date(text) == moment


@pytest.mark.parametrize(
    ("text", "is_one"), [("accountlog_x", True), ("2026", False), ("", False), (None, False)]
)
def test_a_mark_is_known_by_its_prefix(*, text: str | None, is_one: bool) -> None:
    assert is_mark(text) == is_one


def test_a_timestamp_is_milliseconds_when_large_and_seconds_otherwise() -> None:
    moment = datetime(2024, 11, 20, 10, 53, 20, tzinfo=UTC)
    assert read_timestamp(1_732_100_000_000) == moment
    assert read_timestamp(1_732_100_000) == moment
    assert read_timestamp(None) is None


@given(st.floats() | st.integers())
def test_no_number_can_break_a_timestamp(number: float) -> None:
    moment = read_timestamp(number)
    assert moment is None or moment.tzinfo is UTC


def test_a_number_beyond_all_floats_is_no_timestamp() -> None:
    assert read_timestamp(10**400) is None
