"""The CSV export of pages: all matches in the list's order, and the coverage."""

import pytest
from django.test import Client

from tests.support import wire
from tests.support.csv_files import csv_lines
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_html, text
from tests.support.page_list import dated, numbered, record


def lines_of(client: Client, address: str) -> list[list[str]]:
    """Return the lines of the file below its header."""
    header, *lines = csv_lines(client, address)
    assert header[:4] == ["Page", "Tenant", "Brand", "Name"]
    return lines


def export_link(html: str) -> str:
    links = [e.attributes["href"] for e in elements(html, "a") if "href" in e.attributes]
    return next(link for link in links if link.startswith("/pages/export.csv"))


def test_the_export_has_all_matches_in_list_order(
    as_viewer: Client, fake_service: FakeService
) -> None:
    record(
        *(numbered(n, status="draft", audiencesCount=n) for n in range(120)),
        wire.page(pageId="other"),
    )
    lines = lines_of(as_viewer, "/pages/export.csv?q=number&status=draft&sort=-audiences")
    assert [line[0] for line in lines] == [f"page_{n}" for n in range(119, -1, -1)]
    assert fake_service.sent == []


def test_a_line_has_the_last_known_page_and_time(
    as_viewer: Client, fake_service: FakeService
) -> None:
    page = wire.page(name="=1+1", updatedAt="2026-11-09T10:00:00Z", archivedAt=None)
    del page["pageType"]
    record(page)
    [line] = lines_of(as_viewer, "/pages/export.csv")
    assert line[3] == "'=1+1"
    assert line[5] == ""
    assert line[9] == "2026-11-09T10:00:00+00:00"
    assert line[10] == ""
    assert line[12].startswith("20")


def test_the_file_ends_with_the_number_not_loaded(
    as_viewer: Client, fake_service: FakeService
) -> None:
    record(numbered(1), numbered(2), total=60)
    assert lines_of(as_viewer, "/pages/export.csv?q=number+2")[1:] == [
        ["Not included: 58 of 60 pages, not loaded yet."]
    ]


@pytest.mark.parametrize(
    ("address", "total", "label"),
    [
        ("/pages/?q=number", 2, "Export 2 as CSV"),
        ("/pages/?q=number", 60, "Export 2 from 2 of 60 as CSV"),
        ("/pages/?sort=name", 60, "Export 2 of 60 as CSV"),
        ("/pages/?sort=name", 2, "Export 2 as CSV"),
    ],
)
def test_the_button_shows_the_coverage(
    as_viewer: Client, fake_service: FakeService, address: str, total: int, label: str
) -> None:
    record(numbered(1), numbered(2), total=total)
    html = page_html(as_viewer, address)
    assert label in text(html)
    assert export_link(html) == address.replace("/pages/", "/pages/export.csv")


def test_the_button_is_updated_with_a_search(as_viewer: Client, fake_service: FakeService) -> None:
    record(dated(1, 2), dated(2, 3))
    html = page_html(as_viewer, "/pages/?q=number+2", target="results")
    assert 'id="page-export" hx-swap-oob="innerHTML"' in html
    assert export_link(html) == "/pages/export.csv?q=number+2"
    assert "Export 1 as CSV" in text(html)


def test_no_matches_offer_no_file(as_viewer: Client, fake_service: FakeService) -> None:
    record(numbered(1))
    assert "/pages/export.csv" not in page_html(as_viewer, "/pages/?q=zebra")


def test_a_file_requires_signing_in(client: Client) -> None:
    response = client.get("/pages/export.csv")
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")
