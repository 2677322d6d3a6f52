"""Activity lists versions that went live without a recorded operation."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey, Version
from dashboard.ledger.models import Operation
from dashboard.ledger.queries.audiences import outside_publications
from tests.support.csv_files import csv_rows
from tests.support.embedded_api_factories import make_audience, make_live_version, make_version
from tests.support.html import elements, page_html, text
from tests.support.operations import operation
from tests.support.seeding import seed_publication
from tests.support.shown_page import ShownPage

pytestmark = pytest.mark.django_db

LIST = "/activity/outside/"
WORDS = "went live outside Pressroom"


def html_of(client: Client, url: str = LIST, **headers: str) -> str:
    return page_html(client, url, **headers)


def numbers(html: str) -> list[int]:
    """Return the numbers of the listed versions, in order."""
    return [int(number) for number in re.findall(rf"Version (\d+) {WORDS}", text(html))]


# In Activity


def test_the_newest_three_are_above_the_operations(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1")
    for number in range(1, 5):
        seed_publication(number)
    page = html_of(as_viewer, "/activity/")
    assert numbers(page) == [4, 3, 2]
    assert text(page).index(WORDS) < text(page).index("Publish version 2")
    assert LIST in [e.attributes.get("href") for e in elements(page, "a")]


def test_they_are_listed_before_any_operation_is_on_record(as_viewer: Client) -> None:
    seed_publication(3)
    assert numbers(html_of(as_viewer, "/activity/")) == [3]


@pytest.mark.parametrize(
    ("query", "numbers_listed"),
    [
        ("target=aud_1", [3]),
        ("target=aud_2", []),
        ("since=2026-01-01", [3]),
        ("since=9999-01-01", []),
        ("kind=publish_version", []),
        ("outcome=accepted", []),
        ("approval=none", []),
        ("target=aud_1&outcome=unknown", []),
    ],
)
def test_a_filter_that_only_operations_have_leaves_them_out(
    as_viewer: Client, query: str, numbers_listed: list[int]
) -> None:
    seed_publication(3)
    assert numbers(html_of(as_viewer, f"/activity/?{query}")) == numbers_listed


def test_a_page_that_continues_the_list_leaves_them_out(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1")
    operation(paula, "k2")
    seed_publication(3)
    assert numbers(html_of(as_viewer, "/activity/?after=k2")) == []


# Their own list


def test_an_empty_list_explains_itself(as_viewer: Client) -> None:
    page = text(html_of(as_viewer))
    assert "Nothing was published outside Pressroom" in page
    assert "A version that goes live with no operation on record is listed here." in page


def test_they_are_listed_newest_first_with_audience_and_page(as_viewer: Client) -> None:
    now = timezone.now()
    for number, days in ((1, 3), (2, 1), (3, 2)):
        seed_publication(number, seen_at=now - timedelta(days=days))
    page = html_of(as_viewer)
    assert numbers(page) == [2, 3, 1]
    assert "Brightwater Foods on Fleet telematics. No operation on record." in text(page)


@pytest.mark.parametrize(
    ("query", "numbers_listed"),
    [("target=page_1", [1]), ("target=ver_2", [2]), ("since=9999-01-01", []), ("actor=x", [2, 1])],
)
def test_the_list_is_filtered_by_target_and_day(
    as_viewer: Client, query: str, numbers_listed: list[int]
) -> None:
    seed_publication(1)
    seed_publication(2, page_id="page_2")
    page = html_of(as_viewer, f"{LIST}?{query}")
    assert numbers(page) == numbers_listed
    assert ("No versions match these filters" in page) is not numbers_listed


def test_a_long_list_continues_and_keeps_its_length(as_viewer: Client) -> None:
    for number in range(120):
        seed_publication(number)
    page = html_of(as_viewer)
    assert numbers(page) == [*range(119, 69, -1)]
    assert "50 of 120" in text(page)
    links = [e.attributes for e in elements(page, "a") if "hx-get" in e.attributes]
    [more] = [link["href"] for link in links if link["hx-target"] == "#more"]
    headers = {"HX-Request": "true", "HX-Target": "more", "HX-Current-URL": LIST}
    part = as_viewer.get(f"{LIST}{more}", headers=headers)
    assert numbers(part.text) == [*range(69, 19, -1)]
    assert part["HX-Replace-Url"] == f"{LIST}?show=100"
    assert len(numbers(html_of(as_viewer, part["HX-Replace-Url"]))) == 100


@pytest.mark.parametrize("address", [LIST, "/activity/"])
def test_names_from_the_service_are_never_markup(as_viewer: Client, address: str) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    seed_publication(audience_name=hostile, page_name=hostile)
    html = html_of(as_viewer, address)
    assert text(html).count(hostile) == 2
    assert not any(e.tag == "img" for e in elements(html))


def test_the_csv_has_a_line_for_each(as_viewer: Client) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    seed_publication(3, started_at=at)
    seed_publication(4, started_at=at, is_start_seen=True, audience_id="aud_2")
    [line] = csv_rows(as_viewer, "/activity/outside/export.csv?target=aud_1")
    assert line == {
        "went live at (UTC)": "2026-03-01T12:00:00+00:00",
        "noticed at (UTC)": "2026-03-01T12:00:00+00:00",
        "page": "Fleet telematics",
        "audience": "Brightwater Foods",
        "version number": "3",
        "page ID": "page_1",
        "audience ID": "aud_1",
        "version ID": "ver_3",
    }


def test_fifty_rows_cost_no_more_queries_than_one(
    as_viewer: Client, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    html_of(as_viewer)
    for number in range(60):
        seed_publication(number)
    with django_assert_max_num_queries(11):
        html_of(as_viewer)


# With the built-in API


@pytest.fixture
def versions(settings: Any) -> dict[int, Version]:
    """Versions 1 (live) and 2 of an audience; the service publishes at once."""
    settings.EMBEDDED_API_QUEUE_S = settings.EMBEDDED_API_PROCESSING_S = 0
    audience = make_audience(computed_name="Brightwater")
    return {1: make_live_version(audience), 2: make_version(audience, 2)}


def history(client: Client, version: Version) -> str:
    """Return the version history, which reads the service."""
    audience = version.audience
    return text(html_of(client, f"/pages/{audience.page_id}/audiences/{audience.pk}/versions/"))


def publish_url(version: Version) -> str:
    audience = version.audience
    return f"/pages/{audience.page_id}/audiences/{audience.pk}/versions/{version.pk}/publish/"


def publish_here(client: Client, version: Version) -> None:
    """Publish a version through Pressroom, or roll back to it, with the required fields."""
    url = publish_url(version)
    page = ShownPage(client).show(client.get(url))
    if page.location:
        url = page.location
        page.show(client.get(url))
    form = {name: page.value(name) for name in ("operation_key", "shown")}
    client.post(url, form | {"number": str(version.version_number)})


def publish_elsewhere(version: Version) -> None:
    """Publish a version over the API with a key, as another tool does."""
    key = keys.issue(ApiKey(name="Another tool", tenant=keys.default_tenant()))
    path = f"/v0{publish_url(version).removesuffix('/')}"
    response = Client(headers={"x-api-key": key}).post(path, "{}", "application/json")
    assert response.status_code == 200, response.content


def test_what_is_published_through_pressroom_is_not_listed(
    as_publisher: Client, versions: dict[int, Version]
) -> None:
    history(as_publisher, versions[1])
    for number in (2, 1, 2):
        publish_here(as_publisher, versions[number])
        assert f"Version {number} Live" in history(as_publisher, versions[number])
    assert Operation.objects.count() == 3
    assert not outside_publications().exists()
    assert numbers(html_of(as_publisher, "/activity/")) == []


def test_an_api_publish_is_listed_after_the_next_read(
    as_publisher: Client, versions: dict[int, Version]
) -> None:
    html_of(as_publisher, "/pages/")
    history(as_publisher, versions[1])
    publish_elsewhere(versions[2])
    assert numbers(html_of(as_publisher)) == []
    assert "Published outside Pressroom" in history(as_publisher, versions[2])
    assert numbers(html_of(as_publisher)) == [2]
    assert "version 2" in text(html_of(as_publisher, "/"))


def test_an_api_rollback_of_our_publish_is_listed(
    as_publisher: Client, versions: dict[int, Version]
) -> None:
    history(as_publisher, versions[1])
    for number in (2, 1):
        publish_here(as_publisher, versions[number])
        history(as_publisher, versions[number])
    publish_elsewhere(versions[2])
    history(as_publisher, versions[2])
    assert numbers(html_of(as_publisher)) == [2]
