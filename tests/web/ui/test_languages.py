"""Numbers and days follow the viewer's language; the text stays English."""

import re
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest
from babel import Locale, localedata
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.web.shell.sidebar_counts import side_counts
from dashboard.web.ui.locale_format import (
    Language,
    accepted_language,
    language,
    override_language,
)
from dashboard.web.ui.markup import duration, moment
from tests.conftest import logged_in
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.wire import envelope, page, person

MOMENT = datetime(2025, 3, 9, 14, 5, 7, tzinfo=UTC)
BLANKS = str.maketrans({"\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "})
HEADERS = st.one_of(
    st.text(),
    st.from_regex(r"([a-z]{2,3}(-[A-Za-z0-9]{2,8})?(;q=[01](\.\d)?)?,? ?){0,6}", fullmatch=True),
)


@pytest.fixture
def many(fake_service: FakeService) -> FakeService:
    """A service with 1,204 people and as many pages, one of them from an earlier year."""

    def answer(request: httpx.Request) -> httpx.Response:
        one = person() if "persons" in request.url.path else page(updatedAt="2025-03-09T14:05:07Z")
        return httpx.Response(200, json=envelope(one) | {"totalCount": 1204})

    fake_service.answer = answer
    return fake_service


def shown(client: Client, address: str, header: str) -> str:
    answer = client.get(address, headers={"Accept-Language": header} if header else {})
    assert answer.status_code == 200
    assert "Accept-Language" in answer["Vary"]
    return text(answer.content.decode()).translate(BLANKS)


HEADERS_AND_WRITING = [
    ("", "1,204", "9 Mar 2025"),
    ("en-GB", "1,204", "9 Mar 2025"),
    ("en-US,en;q=0.9", "1,204", "Mar 9, 2025"),
    ("de", "1.204", "9 Mar 2025"),
    ("de-CH", "1’204", "9 Mar 2025"),
    ("fr-FR,fr;q=0.8,en;q=0.5", "1 204", "9 Mar 2025"),
    ("hu", "1 204", "2025 Mar 9"),
    ("ja", "1,204", "2025 Mar 9"),
    ("en;q=0.5, de", "1.204", "9 Mar 2025"),
    ("de;q=0, fr;q=0.1", "1 204", "9 Mar 2025"),
    ("tlh, fr;q=0.5", "1 204", "9 Mar 2025"),
    ("*", "1,204", "9 Mar 2025"),
    (";;q=,,=<script>", "1,204", "9 Mar 2025"),
    ("de;q=x", "1,204", "9 Mar 2025"),
    ("fr," + "x" * 10_000, "1 204", "9 Mar 2025"),
    ("x" * 10_000, "1,204", "9 Mar 2025"),
]
"""A header, how a number is written by it, and how a day."""


def test_numbers_and_days_follow_the_browser(as_viewer: Client, many: FakeService) -> None:
    wrong = {}
    for header, count, day in HEADERS_AND_WRITING:
        people, pages = (shown(as_viewer, address, header) for address in ("/people/", "/pages/"))
        expected = (f"{count} people", f"Load all {count}", day)
        found = (expected[0] in people, expected[1] in pages, expected[2] in pages)
        if not all(found):
            wrong[header[:40]] = dict(zip(expected, found, strict=True))
    assert wrong == {}


def test_machine_readable_values_are_the_same_in_every_language(
    as_viewer: Client, many: FakeService
) -> None:
    for address in ("/people/export.csv", "/activity/export.csv"):
        answers = [
            as_viewer.get(address, headers={"Accept-Language": header}) for header in ("en", "de")
        ]
        bodies = [b"".join(answer.streaming_content) for answer in answers]  # type: ignore[arg-type]
        assert bodies[0] == bodies[1]
    listed = as_viewer.get("/pages/", headers={"Accept-Language": "de"}).content.decode()
    assert 'datetime="2025-03-09T14:05:07+00:00"' in listed
    assert '<html lang="en"' in listed


def test_the_users_setting_wins_over_the_browser(
    as_viewer: Client, vera: User, many: FakeService
) -> None:
    as_viewer.post("/accounts/settings/", {"language": "de", "keys": "on"})
    assert "1.204 people" in shown(logged_in(vera), "/people/", "en-US")
    answer = as_viewer.post("/accounts/settings/", {"language": "tlh"})
    assert answer.status_code == 422
    as_viewer.post("/accounts/settings/", {"language": ""})
    assert "1,204 people" in shown(logged_in(vera), "/people/", "en-US")


def test_a_language_costs_no_query(
    as_viewer: Client, many: FakeService, django_assert_max_num_queries: Any
) -> None:
    side_counts()  # counted once for the pages of a while
    # The session, the person, two of their rights, the count of the bell, and the views.
    with django_assert_max_num_queries(6):
        as_viewer.get("/accounts/password/", headers={"Accept-Language": "de"})


def test_the_12_hour_clock_follows_the_language() -> None:
    clocks = {
        name: known.time(MOMENT)
        for name in ("en-GB", "en-US", "de", "fr", "es", "ko", "hi")
        if (known := language(name))
    }
    assert clocks == {
        "en-GB": "14:05:07",
        "en-US": "2:05:07 PM",
        "de": "14:05:07",
        "fr": "14:05:07",
        "es": "14:05:07",
        "ko": "2:05:07 PM",
        "hi": "2:05:07 PM",
    }


def test_the_time_zone_applies_in_every_language() -> None:
    with timezone.override("Asia/Tokyo"), override_language(accepted_language("en-US")):
        assert "Sunday, March 9, 2025, 11:05:07 PM JST" in moment(MOMENT)


@pytest.mark.parametrize(("name", "expected"), [("en", "0.4 s"), ("de", "0,4 s"), ("fr", "0,4 s")])
def test_decimals_of_durations_follow_the_language(name: str, expected: str) -> None:
    with override_language(accepted_language(name)):
        assert duration(0.44) == expected


def test_a_negative_duration_is_named() -> None:
    assert duration(-240) == "negative, 4 min"
    assert duration(-0.001) == "0.0 s"


@given(HEADERS)
@example("*")
@example("de-")
@example("../../etc/passwd")
@example("q=0")
@example("\0")
def test_any_header_has_a_language(header: str) -> None:
    found = accepted_language(header)
    assert re.sub(r"\D", "", found.number(1204.5)) == "12045"


def test_every_language_has_digits_and_english_months() -> None:
    for name in localedata.locale_identifiers():
        if "_" in name:  # of a country, as its language
            continue
        one = Language(name, Locale.parse(name))
        assert re.sub(r"\D", "", one.number(1_234_567.5)) == "12345675", name
        assert re.fullmatch(r"\d\D\d", one.number(0.4, places=1)), name
        for how in one.days:
            assert re.fullmatch(r"[A-Za-z0-9, ]+", one.day(date(2025, 3, 9), how)), name
        assert one.time(MOMENT, seconds=False) in {"14:05", "2:05 PM"}, name


def test_the_default_language_is_used_without_a_header() -> None:
    assert accepted_language("").name == "en-GB"
