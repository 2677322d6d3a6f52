"""The geometry of charts follows from their values, for any values."""

import math
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.ledger.queries.overview import DayCount
from dashboard.operations.publish_progress import QueueTime, TypicalTimes, percentile
from dashboard.web.overview.summaries import (
    PlotArea,
    band,
    late_after,
    line,
    publishes_chart,
    queue_chart,
    round_top,
    stacked_bars,
    sum_today,
)

TODAY = date(2026, 3, 12)


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0, 2), (0.4, 2), (2, 2), (3, 4), (9, 10), (11, 12), (17, 20), (121, 160), (10_001, 12_000)],
)
def test_the_axis_top_is_the_next_round_number(highest: float, top: int) -> None:
    assert round_top(highest) == top


@given(st.floats(min_value=0, max_value=1e12))
def test_the_axis_top_is_even_and_high_enough(highest: float) -> None:
    top = round_top(highest)
    assert top >= highest
    assert top % 2 == 0


@given(st.lists(st.lists(st.integers(0, 500), min_size=3, max_size=3), min_size=1, max_size=14))
def test_bars_are_as_tall_as_their_values(columns: list[list[int]]) -> None:
    plot = PlotArea(140, 60, round_top(max(sum(column) for column in columns)))
    bars = stacked_bars(columns, plot)
    assert len(bars) == sum(value > 0 for column in columns for value in column)
    assert all(float(bar.y) >= -0.05 for bar in bars)
    assert all(0 <= float(bar.x) <= 140 - float(bar.width) for bar in bars)
    total_height = sum(float(bar.height) for bar in bars)
    assert math.isclose(
        total_height, sum(map(sum, columns)) / plot.top * 60, abs_tol=0.06 * len(bars)
    )


def test_a_line_leaves_out_the_days_without_a_value() -> None:
    plot = PlotArea(30, 10, 10)
    assert line([5, None, 10], plot) == "5.0,5.0 25.0,0.0"
    assert band([5, None, 5], [10, None, 10], plot) == "5.0,0.0 25.0,0.0 25.0,5.0 5.0,5.0"


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([], 0.95) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0


def day(number: int, outcome: str, count: int, kind: str = "publish_version") -> DayCount:
    return DayCount(TODAY - timedelta(days=number), kind, outcome, count)


def test_publishes_are_counted_by_day_and_outcome() -> None:
    counts = [day(0, "live", 4), day(1, "rejected", 2), day(1, "rejected", 1, "create_page")]
    chart = publishes_chart([*counts, day(0, "accepted", 5), day(14, "live", 9)], TODAY)
    assert len(chart.rows) == 14
    assert chart.rows[-1].values == (4, 0, 0)
    assert chart.rows[-2].values == (0, 2, 0)
    assert chart.totals == (4, 2, 0)
    assert chart.highest == chart.rows[-1]


def test_unknown_outcomes_of_any_age_count_today() -> None:
    today = sum_today([day(40, "unknown", 1), day(0, "rejected", 2), day(1, "live", 3)], TODAY)
    assert (today.unknown, today.failed, today.operations) == (1, 2, 2)
    assert (today.published, today.published_yesterday) == (0, 3)


def test_a_version_that_went_live_is_no_operation() -> None:
    today = sum_today([day(0, "accepted", 2), day(0, "live", 5)], TODAY)
    assert (today.published, today.operations) == (5, 2)


def took(seconds: float, days_ago: int = 0) -> QueueTime:
    at = datetime(2026, 3, 12, 12, tzinfo=UTC) - timedelta(days=days_ago)
    return QueueTime(at, timedelta(seconds=seconds))


def test_queue_times_are_charted_by_day_and_summarized() -> None:
    chart = queue_chart([*map(took, (10, 20, 30, 40)), took(50, days_ago=3)], TODAY)
    assert chart.rows[-1].values == (20, 40)
    assert chart.rows[-2].values == (None, None)
    assert chart.totals == (30, 50)
    assert chart.top == 50
    assert len(chart.line.split()) == 2


def test_no_data_is_an_empty_chart() -> None:
    chart = queue_chart([], TODAY)
    assert (chart.totals, chart.line, chart.band) == ((None, None), "", "")


def test_a_few_times_are_charted_but_not_called_typical() -> None:
    chart = queue_chart([took(10), took(30)], TODAY)
    assert chart.rows[-1].values == (10, 30)
    assert chart.totals == (None, None)
    assert chart.line


def test_a_version_is_late_after_percentile_and_five_minutes() -> None:
    usual = TypicalTimes(timedelta(seconds=10), timedelta(minutes=15), 5)
    assert late_after(usual) == timedelta(minutes=15)
    assert late_after(TypicalTimes(usual.median, usual.median, 5)) == timedelta(minutes=5)
    assert late_after(None) == timedelta(minutes=5)
