"""Numbers, days and times use the user's formats; the text stays English."""

from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.web.live.shell_state import shell_state
from dashboard.web.ui.formats import Formats, number, override_formats
from dashboard.web.ui.markup import duration, moment
from tests.conftest import logged_in
from tests.support.fake_service import FakeService
from tests.support.html import response_text, text
from tests.support.wire import envelope, page, person

MOMENT = datetime(2025, 3, 9, 14, 5, 7, tzinfo=UTC)
AMERICAN = Formats(is_month_first=True, is_12_hour=True)
SETTINGS = "/accounts/settings/"


@pytest.fixture(autouse=True)
def _many(fake_service: FakeService) -> None:
    """A service with 1,204 people and as many pages, one of them from an earlier year."""

    def answer(request: httpx.Request) -> httpx.Response:
        item = person() if "persons" in request.url.path else page(updatedAt=MOMENT.isoformat())
        return httpx.Response(200, json=envelope(item) | {"totalCount": 1204})

    fake_service.answer = answer


def read(client: Client, url: str) -> str:
    return response_text(client.get(url))


def test_numbers_are_grouped_and_days_come_first(as_viewer: Client) -> None:
    assert "1,204 people" in read(as_viewer, "/people/")
    assert "9 Mar 2025" in read(as_viewer, "/pages/")


def test_users_choose_month_first_and_12_hours(as_viewer: Client, vera: User) -> None:
    as_viewer.post(SETTINGS, {"date_order": "month", "hours": "12", "keys": "on"})
    listed = logged_in(vera).get("/pages/").text
    assert "Mar 9, 2025" in text(listed)
    assert "Sunday, March 9, 2025, 2:05:07 PM UTC" in listed
    assert 'datetime="2025-03-09T14:05:07+00:00"' in listed
    as_viewer.post(SETTINGS, {"date_order": "", "hours": "", "keys": "on"})
    assert "Sunday 9 March 2025, 14:05:07 UTC" in logged_in(vera).get("/pages/").text


@pytest.mark.parametrize("field", ["date_order", "hours"])
def test_an_unknown_format_is_refused(as_viewer: Client, field: str) -> None:
    assert as_viewer.post(SETTINGS, {field: "lunar"}).status_code == 422


@pytest.mark.parametrize("url", ["/people/export.csv", "/activity/export.csv"])
def test_exports_are_the_same_in_every_format(as_viewer: Client, url: str) -> None:
    exports = []
    for choices in ({}, {"date_order": "month", "hours": "12"}):
        as_viewer.post(SETTINGS, choices)
        exports.append(b"".join(as_viewer.get(url).streaming_content))  # type: ignore[arg-type]
    assert exports[0] == exports[1]


def test_formats_cost_no_query(as_viewer: Client, django_assert_max_num_queries: Any) -> None:
    shell_state()  # counts once; the page below uses the cache
    # The session, the user, two queries for permissions, the feed, the bell's count, and the views.
    with django_assert_max_num_queries(7):
        as_viewer.get("/accounts/password/")


def test_the_time_zone_applies_in_every_format() -> None:
    with timezone.override("Asia/Tokyo"), override_formats(AMERICAN):
        assert "Sunday, March 9, 2025, 11:05:07 PM JST" in moment(MOMENT)


@pytest.mark.parametrize(
    ("hour", "expected"), [(0, "12:05 AM"), (11, "11:05 AM"), (12, "12:05 PM"), (23, "11:05 PM")]
)
def test_noon_and_midnight_are_12(hour: int, expected: str) -> None:
    assert AMERICAN.time(MOMENT.replace(hour=hour), seconds=False) == expected


def test_every_style_of_a_day_names_its_month() -> None:
    styles = ("short", "long", "dated", "full", "named")
    assert [Formats().day(date(2025, 3, 9), style) for style in styles] == [
        *("9 Mar", "9 March", "9 Mar 2025", "9 March 2025", "Sunday 9 March 2025")
    ]
    assert [AMERICAN.day(MOMENT, style) for style in styles] == [
        *("Mar 9", "March 9", "Mar 9, 2025", "March 9, 2025", "Sunday, March 9, 2025")
    ]


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [
        (1_234_567, None, "1,234,567"),
        (1204.5, None, "1,204.5"),
        (0.12345, None, "0.123"),
        (12.0, None, "12"),
        (100.0, None, "100"),
        (5, 1, "5.0"),
        (10**30, None, "1.00E30"),
        (-1204.5, None, "-1,204.5"),
    ],
)
def test_numbers_have_up_to_three_decimals(value: float, places: int | None, expected: str) -> None:
    assert number(value, places) == expected


def test_a_negative_duration_is_named() -> None:
    assert duration(-240) == "negative, 4 min"
    assert duration(-0.001) == "0.0 s"
    assert duration(0.44) == "0.4 s"
