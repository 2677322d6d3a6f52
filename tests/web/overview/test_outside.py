"""The overview lists what went live outside Pressroom in the last 7 days."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.support import wire
from tests.support.html import elements, response_text, text
from tests.support.seeding import seed_pages, seed_publication

pytestmark = pytest.mark.django_db

SECTION = "published-outside"
WORDS = "No operation on record for"


@pytest.fixture(autouse=True)
def _a_page_was_seen(db: None) -> None:
    seed_pages(wire.page())


def overview(client: Client) -> str:
    return client.get("/").text


def is_hidden(html: str) -> bool:
    [section] = [e for e in elements(html, "section") if e.attributes.get("id") == SECTION]
    return "hidden" in section.attributes


def test_number_audience_page_and_time_are_listed(as_viewer: Client) -> None:
    seed_publication(3)
    html = overview(as_viewer)
    assert f"{WORDS} Brightwater Foods, version 3 " in text(html)
    links = [e.attributes.get("href") for e in elements(html, "a")]
    assert "/pages/page_1/audiences/aud_1/versions/" in links
    assert "/activity/outside/" in links
    assert not is_hidden(html)


def test_without_any_the_section_is_hidden(as_viewer: Client) -> None:
    assert is_hidden(overview(as_viewer))


def test_older_news_is_left_to_activity(as_viewer: Client) -> None:
    seed_publication(seen_at=timezone.now() - timedelta(days=7, minutes=1))
    assert is_hidden(overview(as_viewer))


def test_the_newest_five_are_one_paragraph(as_viewer: Client) -> None:
    for number in range(6):
        seed_publication(number)
    page = text(overview(as_viewer))
    assert page.count(WORDS) == 1
    assert page.count("Brightwater Foods, version") == 5
    assert "version 0" not in page
    assert "; and others" in page


def test_a_poll_updates_the_section(as_viewer: Client) -> None:
    seed_publication(3)
    html = as_viewer.get("/", headers={"HX-Request": "true", "HX-Target": "in-flight"})
    assert f"{WORDS} Brightwater Foods, version 3" in response_text(html)


def test_missing_names_are_replaced_by_ids(as_viewer: Client) -> None:
    seed_publication(3, audience_name="", page_name="")
    assert f"{WORDS} aud_1, version 3" in text(overview(as_viewer))
