"""An audience whose latest version was rolled back: in lists, filters, exports and the palette."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.test import Client

from dashboard.web.audiences.listing import matching_audiences
from tests.support.audience_list import html_of, names_in
from tests.support.clock import stopped
from tests.support.csv_files import csv_rows
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.release_service import PublishingAudiences

KEY = ("page_1", "aud_1")
LIST, PAGE = "/audiences/", "/pages/page_1/"


@pytest.fixture(autouse=True)
def service(
    fake_service: FakeService, db: None, monkeypatch: pytest.MonkeyPatch
) -> PublishingAudiences:
    """Two audiences with a draft over a live version; the first draft was rolled back."""
    service, clock = PublishingAudiences(), stopped(monkeypatch)
    fake_service.answer = service
    service.add(2)
    for number in (2, 1):
        clock.advance(60)
        service.go_live(KEY, f"ver_aud_1_{number}")
        service.record()
    clock.advance(60)
    return service


def test_it_is_no_unpublished_change(as_publisher: Client) -> None:
    assert names_in(html_of(as_publisher, f"{LIST}?live=rolled-back")) == ["Name of aud_1"]
    assert names_in(html_of(as_publisher, f"{LIST}?live=changed")) == ["Name of aud_2"]
    assert names_in(html_of(as_publisher, f"{PAGE}?flag=rolled-back")) == ["Name of aud_1"]
    assert names_in(html_of(as_publisher, f"{PAGE}?flag=changed")) == ["Name of aud_2"]


def test_its_row_says_so(as_viewer: Client) -> None:
    assert "Rolled back" in text(html_of(as_viewer, f"{LIST}?q=aud_1").split("<tbody")[1])


def test_the_filter_can_be_removed(as_viewer: Client) -> None:
    html = html_of(as_viewer, f"{LIST}?live=rolled-back")
    assert "Live status: Rolled back" in text(html)


@pytest.mark.parametrize("url", [LIST, PAGE])
def test_no_list_offers_to_publish_it(as_publisher: Client, url: str) -> None:
    html = html_of(as_publisher, url)
    assert "versions/ver_aud_1_2/publish/" not in html


@pytest.mark.parametrize("query", ["live=changed", "in=page_1&flag=changed"])
def test_all_unpublished_changes_are_selected_without_it(query: str) -> None:
    assert matching_audiences(QueryDict(query), AnonymousUser()) == [("page_1", "aud_2")]


def test_the_palette_does_not_offer_to_publish_it(as_publisher: Client) -> None:
    page = text(html_of(as_publisher, "/find/?q=publish+name"))
    assert "Publish version 2: Name of aud_2" in page
    assert "Publish version 2: Name of aud_1" not in page


def test_the_export_has_its_status(as_viewer: Client) -> None:
    rows = csv_rows(as_viewer, f"{LIST}export.csv?sort=name")[:2]
    assert [row["Live status"] for row in rows] == ["Rolled back", "Unpublished changes"]
    assert rows[0]["Live version"] == "1"
