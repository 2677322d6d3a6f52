"""A typed date, time and zone become one instant, or an error message."""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.releases.errors import ReleaseError
from dashboard.releases.schedules import (
    AmbiguousTimeError,
    ScheduledMoment,
    parse_moment,
    zone_names,
)

NOW = datetime(2026, 11, 23, 8, 53, tzinfo=UTC)
EVERY_ZONE = sorted(zone_names())


def moment(date: str, time: str, zone: str = "Europe/Oslo", fold: str = "") -> ScheduledMoment:
    return parse_moment(date, time, zone, fold=fold, now=NOW)


def test_a_time_is_that_of_its_zone() -> None:
    moment_at = moment("2026-11-24", "14:00")
    assert moment_at.instant == datetime(2026, 11, 24, 13, tzinfo=UTC)
    assert (moment_at.zone, moment_at.as_typed, moment_at.skipped) == (
        "Europe/Oslo",
        "2026-11-24 14:00",
        None,
    )


def test_a_time_that_occurs_twice_is_chosen() -> None:
    with pytest.raises(AmbiguousTimeError) as error:
        moment("2027-10-31", "02:30")
    assert error.value.field == "fold"
    assert [(value, choice.instant.hour) for value, choice in error.value.choices] == [
        ("first", 0),
        ("second", 1),
    ]
    assert moment("2027-10-31", "02:30", fold="first").instant.hour == 0
    second = moment("2027-10-31", "02:30", fold="second")
    assert (second.instant.hour, second.as_typed) == (1, "2027-10-31 02:30 (second)")
    assert second.skipped is None


def test_a_skipped_time_moves_to_the_next_minute() -> None:
    moment_at = moment("2027-03-28", "02:30")
    assert moment_at.instant == datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert moment_at.as_typed == "2027-03-28 02:30"
    assert moment_at.skipped == datetime(2027, 3, 28, 2, 30)  # noqa: DTZ001  # that of no zone


def test_a_skipped_day_moves_to_the_next() -> None:
    before = datetime(2011, 12, 1, tzinfo=UTC)
    moment_at = parse_moment("2011-12-30", "09:00", "Pacific/Apia", now=before)
    assert moment_at.local == datetime(2011, 12, 31, tzinfo=ZoneInfo("Pacific/Apia"))
    assert moment_at.skipped == datetime(2011, 12, 30, 9)  # noqa: DTZ001  # that of no zone


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        (("2027-02-29", "10:00", "UTC"), "date", "Enter a valid date, such as 2027-03-28."),
        (("20270228", "10:00", "UTC"), "date", "Enter a valid date, such as 2027-03-28."),
        (("２０２７-02-28", "10:00", "UTC"), "date", "Enter a valid date, such as 2027-03-28."),
        (("", "10:00", "UTC"), "date", "Enter a valid date, such as 2027-03-28."),
        (("9999-12-31", "23:59", "Etc/GMT+12"), "date", "Enter a valid date, such as 2027-03-28."),
        (("2027-02-28", "24:00", "UTC"), "time", "Enter a valid time, such as 14:30."),
        (("2027-02-28", "10", "UTC"), "time", "Enter a valid time, such as 14:30."),
        (("2027-02-28", "10:00", "Mars/Base"), "zone", "Choose a time zone from the list."),
        (("2027-02-28", "10:00", "../etc/passwd"), "zone", "Choose a time zone from the list."),
        (("2026-11-23", "08:53", "UTC"), "time", "This time is in the past."),
        (("0001-01-01", "00:00", "Asia/Tokyo"), "date", "Enter a valid date, such as 2027-03-28."),
        (("2036-11-23", "08:53", "UTC"), "date", "This date is more than five years ahead."),
    ],
)
def test_an_impossible_moment_is_explained(
    fields: tuple[str, str, str], field: str, sentence: str
) -> None:
    with pytest.raises(ReleaseError) as error:
        moment(*fields)
    assert (str(error.value), error.value.field) == (sentence, field)


@cache
def transitions(name: str, first_year: int, last_year: int) -> list[datetime]:
    """Return the instants in these years when the offset of a zone changes."""
    zone, result = ZoneInfo(name), []
    after = datetime(first_year, 1, 1, tzinfo=UTC)
    while after.year <= last_year:
        before, after = after, after + timedelta(days=14)
        offset = before.astimezone(zone).utcoffset()
        if after.astimezone(zone).utcoffset() == offset:
            continue
        low, high = before, after
        while high - low > timedelta(seconds=1):
            middle = low + (high - low) // 2
            if middle.astimezone(zone).utcoffset() == offset:
                low = middle
            else:
                high = middle
        result.append(high.replace(microsecond=0))
    return result


def check(name: str, local: datetime) -> None:
    """Check how a local time is parsed in a zone, also if it is skipped or occurs twice.

    Tries the offsets of that day one by one, so it doesn't depend on `fold`.
    """
    zone = ZoneInfo(name)
    noon = local.replace(tzinfo=UTC)
    near = [noon + timedelta(hours=hours) for hours in range(-26, 27)]
    exact = {noon - (at.astimezone(zone).utcoffset() or timedelta()) for at in near}
    instants = sorted(at for at in exact if at.astimezone(zone).replace(tzinfo=None) == local)
    before = local.replace(tzinfo=UTC) - timedelta(days=3)

    def parsed(fold: str = "") -> ScheduledMoment:
        return parse_moment(f"{local:%Y-%m-%d}", f"{local:%H:%M}", name, fold=fold, now=before)

    if len(instants) == 1:
        assert (parsed().instant, parsed().skipped) == (instants[0], None)
    elif instants:
        with pytest.raises(AmbiguousTimeError):
            parsed()
        assert [parsed("first").instant, parsed("second").instant] == instants
    else:
        moved = parsed()
        assert moved.skipped == local
        assert moved.local.replace(tzinfo=None) > local
        assert moved.local.second == 0
        # The minute before is on the other side of the gap.
        earlier = (moved.instant - timedelta(minutes=1)).astimezone(zone)
        assert earlier.replace(tzinfo=None) < local


def test_every_zone_is_right_around_its_next_changes() -> None:
    changing = [name for name in EVERY_ZONE if transitions(name, 2026, 2027)]
    assert len(changing) > 100
    for name in changing:
        for at in transitions(name, 2026, 2027)[:2]:
            local = at.astimezone(ZoneInfo(name)).replace(tzinfo=None)
            for minutes in (-61, -60, -31, -1, 0, 1, 29, 59, 60):
                check(name, local + timedelta(minutes=minutes))


@given(st.data())
def test_every_minute_around_every_zone_change_is_right(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(EVERY_ZONE))
    changes = transitions(name, 1990, 2037) or [datetime(2026, 6, 1, tzinfo=UTC)]
    local = data.draw(st.sampled_from(changes)).astimezone(ZoneInfo(name)).replace(tzinfo=None)
    check(name, local + timedelta(minutes=data.draw(st.integers(-1500, 1500))))


@given(*[st.text(max_size=12)] * 4)
def test_any_text_is_a_moment_or_a_sentence(date: str, time: str, zone: str, fold: str) -> None:
    with pytest.raises(ReleaseError, match=re.compile(r"\.$")):
        parse_moment(date, time, zone, fold=fold, now=NOW)
