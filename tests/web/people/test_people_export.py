"""CSV export of people: all matches, page by page, with a note if it is incomplete."""

from typing import Any

import httpx
import pytest
from django.test import Client

from tests.support import wire
from tests.support.csv_files import csv_lines
from tests.support.embedded_api_factories import make_person
from tests.support.fake_service import FakeService
from tests.support.html import response_text


def people_of(client: Client, address: str = "/people/export.csv") -> list[list[str]]:
    """Return the rows of the file below its header."""
    header, *rows = csv_lines(client, address)
    assert header[:4] == ["Person", "Tenant", "Name", "Email"]
    return rows


def fake_service_in_parts(
    fake_service: FakeService, *parts: httpx.Response | type[httpx.TransportError]
) -> None:
    """Make the service return the parts in turn, with the cursors `1`, `2`, …"""

    def answer(request: httpx.Request) -> httpx.Response:
        part = parts[int(request.url.params.get("cursor", "0"))]
        if isinstance(part, httpx.Response):
            return part
        raise part("gone", request=request)

    fake_service.answer = answer


def part(*items: Any, then: str | None = None, **differs: Any) -> httpx.Response:
    more: dict[str, Any] = {"hasMore": then is not None, "totalCount": 9}
    if then:
        more["nextCursor"] = then
    return httpx.Response(200, json=wire.envelope(*items, **more | differs))


def test_everyone_who_matches_is_in_the_file(as_viewer: Client) -> None:
    for number in range(205):
        make_person(f"Ada {number:03}")
    make_person("Grace")
    rows = people_of(as_viewer, "/people/export.csv?q=ada")
    assert [row[2] for row in rows] == [f"Ada {number:03}" for number in range(205)]


def test_fields_have_columns_and_absent_ones_are_empty(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service_in_parts(fake_service, part(wire.person(updatedAt="soon"), {"name": None}))
    assert people_of(as_viewer) == [
        [
            "prospect_1",
            "ten_1",
            "Ada Lovelace",
            "ada@analytical.example",
            "analytical.example",
            "ada-lovelace",
            "'+44 20 7946 0001",
            "https://linkedin.example/in/ada",
            "2026-01-14T08:00:00+00:00",
            "soon",
        ],
        [""] * 10,
    ]


def test_no_cell_is_a_formula(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service_in_parts(
        fake_service, part(wire.person(name='=HYPERLINK("//x")', email="@SUM(1)"))
    )
    assert people_of(as_viewer)[0][2:4] == ['\'=HYPERLINK("//x")', "'@SUM(1)"]


def test_the_file_is_streamed(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service_in_parts(
        fake_service, part(wire.person(), then="1"), part(wire.person(name="Last"))
    )
    response = as_viewer.get("/people/export.csv")
    lines = iter(response)
    assert b"Person,Tenant" in next(lines)
    assert b"Ada Lovelace" in next(lines)
    assert len(fake_service.sent) == 1
    assert b"Last" in next(lines)
    assert next(lines, None) is None
    assert [request.url.params["limit"] for request in fake_service.sent] == ["200", "200"]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (httpx.Response(400, json={"detail": "Old cursor"}), "returned 400: Old cursor"),
        (httpx.Response(200, content=b"<html>"), "not JSON"),
        (httpx.ReadTimeout, "didn’t respond within"),
        (part(wire.person(), then="1"), "returned a cursor that was already used"),
        (part(then="7"), "reports more but returned an empty page"),
        (part(hasMore=True), "reports more but returned no cursor"),
    ],
)
def test_an_incomplete_file_explains_itself_in_its_last_line(
    as_viewer: Client, fake_service: FakeService, second: Any, message: str
) -> None:
    fake_service_in_parts(fake_service, part(wire.person(), wire.person(), then="1"), second)
    *rows, last = people_of(as_viewer)
    assert len(last) == 1
    assert last[0].startswith(f"Incomplete, {len(rows)} of 9 exported: ")
    assert message in last[0]
    assert len(fake_service.sent) == 2


def test_unreadable_people_are_counted_at_the_end(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service_in_parts(fake_service, part(wire.person(), "nobody", 7))
    rows = people_of(as_viewer)
    assert [len(row) for row in rows] == [10, 1]
    assert rows[1] == ["Unreadable, not exported: 2."]


def test_an_early_export_failure_is_an_error_page(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(500, json={"detail": "Out of paper"})
    response = as_viewer.get("/people/export.csv?q=ada")
    assert response.status_code == 502
    assert "text/html" in response["Content-Type"]
    assert "Out of paper" in response_text(response)
