"""Selecting audiences in the list and in a page's table, with a form that needs no scripts."""

from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.test import Client

from dashboard.releases.models import MAX_ITEMS, Release
from dashboard.web.audiences.listing import matching_audiences
from tests.support import wire
from tests.support.audience_list import canceled, html_of, live, named
from tests.support.fake_service import FakeService
from tests.support.html import Element, elements, text
from tests.support.live_page import Region
from tests.support.one_audience import serve
from tests.support.release_form import NEW, ReleaseForm
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db

LISTS = ["/audiences/", "/pages/page_1/"]


@pytest.fixture(autouse=True)
def three_audiences(fake_service: FakeService) -> None:
    """Three audiences of one page, at the service and in the ledger."""
    audiences = [live(1), named(2), canceled(3)]
    serve(fake_service, *audiences)
    seed_pages(wire.page(audiencesCount=3), total=1)
    seed_audiences(*audiences)


def boxes_in(html: str) -> list[Element]:
    inputs = elements(html, "input")
    return [box for box in inputs if box.attributes.get("name") == "audience"]


def values_in(html: str) -> list[str]:
    return sorted(box.attributes["value"] for box in boxes_in(html))


def hidden_query(html: str) -> str:
    inputs = elements(html, "input")
    return next(e.attributes["value"] for e in inputs if e.attributes.get("name") == "query")


def sent(client: Client, **selection: Any) -> list[list[str]]:
    """Send a selection; return the ids of the audiences in the release's form."""
    form = ReleaseForm(client).post(then="add", **selection)
    assert form.status == 200
    return [[unquote(part) for part in value.split("/")] for value in form.selected]


@pytest.mark.parametrize("address", LISTS)
def test_a_publisher_can_check_every_audience(as_publisher: Client, address: str) -> None:
    html = html_of(as_publisher, address)
    assert values_in(html) == ["page_1/aud_1", "page_1/aud_2", "page_1/aud_3"]
    form = next(e for e in elements(html, "form") if "data-selection" in e.attributes)
    assert (form.attributes["method"], form.attributes["action"]) == ("post", NEW)
    assert "Select versions below, then" in text(html)


@pytest.mark.parametrize("address", LISTS)
def test_a_viewer_is_offered_no_selection(as_viewer: Client, address: str) -> None:
    html = html_of(as_viewer, address)
    assert boxes_in(html) == []
    assert "data-selection=" not in html
    assert "Company 2" in html


def test_a_checkbox_names_its_audience_and_page(as_publisher: Client) -> None:
    assert "Select Company 2, Fleet telematics" in text(html_of(as_publisher, "/audiences/"))
    assert "Select Company 2" in text(html_of(as_publisher, "/pages/page_1/"))


def test_what_is_checked_is_offered_to_a_release(as_publisher: Client) -> None:
    values = values_in(html_of(as_publisher, "/audiences/"))[:2]
    assert sent(as_publisher, audience=values) == [["page_1", "aud_1"], ["page_1", "aud_2"]]


def test_what_is_checked_can_be_reviewed_at_once(as_publisher: Client) -> None:
    form = ReleaseForm(as_publisher).review([("page_1", "aud_2")])
    (item,) = form.release.items.all()
    assert form.location.startswith(f"/releases/{item.release_id}/")
    assert (item.page_id, item.audience_id) == ("page_1", "aud_2")


@pytest.mark.parametrize("ids", [("p/1", "a b"), ("p%2F", "é&="), ("..", "+"), ("page_1", "a/b/c")])
def test_ids_with_any_character_come_back_as_they_were(
    as_publisher: Client, ids: tuple[str, str]
) -> None:
    page_id, audience_id = ids
    seed_audiences(named(9, "Odd", audienceId=audience_id), page_id=page_id)
    (value,) = values_in(html_of(as_publisher, "/audiences/?q=odd"))
    assert sent(as_publisher, audience=value) == [[page_id, audience_id]]


@pytest.mark.parametrize("value", ["", "page_1", "/aud_1", "page_1/", "page_1/%00"])
def test_a_value_of_no_check_box_makes_no_release(as_publisher: Client, value: str) -> None:
    assert ReleaseForm(as_publisher).post(audience=value, then="review").status == 422
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("address", "selected"),
    [
        ("/audiences/?live=changed&live=canceled&sort=name", ["aud_2", "aud_3"]),
        ("/audiences/?sort=-name", ["aud_3", "aud_2", "aud_1"]),
        ("/pages/page_1/?flag=changed", ["aud_2"]),
        ("/pages/page_1/?status=cancelled", ["aud_3"]),
        ("/pages/page_1/?q=company&sort=-name", ["aud_3", "aud_2", "aud_1"]),
    ],
)
def test_selecting_all_matches_follows_the_list(
    as_publisher: Client, address: str, selected: list[str]
) -> None:
    html = html_of(as_publisher, address)
    assert f"Select all {len(selected)}" in text(html)
    result = sent(as_publisher, all_matching="1", query=hidden_query(html))
    assert [audience_id for _, audience_id in result] == selected


@pytest.mark.parametrize("address", ["/audiences/?live=changed", "/pages/page_1/?flag=changed"])
def test_with_scripts_all_that_match_are_fetched(as_publisher: Client, address: str) -> None:
    part = html_of(as_publisher, address, "all-matching")
    assert [e.attributes["value"] for e in elements(part, "input")] == ["page_1/aud_2"]


def test_more_than_a_release_takes_are_not_offered_together(as_publisher: Client) -> None:
    seed_audiences(*(named(number) for number in range(MAX_ITEMS + 2)))
    html = html_of(as_publisher, "/audiences/")
    assert "Select all 502" not in text(html)
    assert "A release takes at most 500" in text(html)
    assert len(matching_audiences(QueryDict("q=company"), AnonymousUser())) == MAX_ITEMS + 1


def test_a_row_fetched_again_keeps_its_checkbox(
    as_publisher: Client, fake_service: FakeService
) -> None:
    html = Region(as_publisher, "/audiences/", "results").refresh().html
    assert len(boxes_in(html)) == html.count('<tr role="row" id="audience-')
