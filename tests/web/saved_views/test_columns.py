"""The columns of a table, chosen and ordered by the URL and by a form without scripts."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import response_text, text
from tests.support.seeding import seed_view

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("audiences")]


def headings(client: Client, url: str) -> list[str]:
    """Return the headings of the table."""
    html = client.get(url).text
    head = html[html.index("<thead") : html.index("</thead>")]
    return [text(cell) for cell in head.split("<th ")[1:]]


def labels(client: Client, url: str) -> list[str]:
    """Return the labels of the first row's cells."""
    html = client.get(url).text
    row = html[html.index('<th scope="row"') :].partition("</tr>")[0]
    return [cell.partition('"')[0] for cell in row.split('data-label="')[1:]]


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("/pages/?columns=name,id,status", ["Page ID", "Status"]),
        ("/pages/?sort=name&columns=brand,created", ["Brand ID", "Created"]),
        ("/audiences/?columns=name,updated,live,seen", ["Updated", "Live version", "Last checked"]),
        ("/audiences/?columns=created,id", ["Created", "Audience ID"]),
        ("/people/?columns=name,slug,linkedin,id", ["Slug", "LinkedIn", "Person ID"]),
        ("/people/?columns=name,created,domain", ["Created", "Domain"]),
        ("/audiences/?columns=name", []),
    ],
)
def test_the_url_chooses_columns_and_their_order(
    as_viewer: Client, fake_service: FakeService, url: str, wanted: list[str]
) -> None:
    is_people = url.startswith("/people/")
    item = wire.person() if is_people else wire.page()
    fake_service.answers(200, json=wire.envelope(item))
    assert labels(as_viewer, url) == wanted
    assert len(headings(as_viewer, url)) == len(wanted) + 1


def test_the_form_applies_its_columns_at_once(as_viewer: Client) -> None:
    form = "live=changed&view=1&column=name&column=updated&column=latest"
    response = as_viewer.get(f"/audiences/?{form}")
    assert response.url == "/audiences/?live=changed&view=1&columns=name%2Cupdated%2Clatest"


@pytest.mark.parametrize(
    ("move", "columns"),
    [
        ("status-up", "name%2Cstatus%2Ctype"),
        ("type-down", "name%2Cstatus%2Ctype"),
        ("type-up", "name%2Ctype%2Cstatus"),
        ("status-down", "name%2Ctype%2Cstatus"),
        ("shoe-up", "name%2Ctype%2Cstatus"),
    ],
)
def test_each_button_moves_a_column_by_one_place(
    as_viewer: Client, move: str, columns: str
) -> None:
    response = as_viewer.get(f"/pages/?column=name&column=type&column=status&move={move}")
    assert response.url == f"/pages/?columns={columns}"


def test_the_default_columns_need_no_parameter(as_viewer: Client) -> None:
    form = "&".join(
        f"column={name}" for name in ("name", "latest", "live", "status", "agent", "updated")
    )
    assert as_viewer.get(f"/audiences/?{form}").url == "/audiences/"


def test_all_links_of_a_list_keep_its_columns(as_viewer: Client) -> None:
    html = as_viewer.get("/audiences/?q=a&live=changed&columns=name,live").text
    assert "?q=a&amp;columns=name%2Clive" in html
    assert '<input type="hidden" name="columns" value="name,live">' in html


def test_columns_are_part_of_a_view(as_viewer: Client, vera: User) -> None:
    seed_view(vera, name="Mine", query="columns=name%2Clive")
    page = response_text(as_viewer.get("/audiences/?columns=name,latest&view=1"))
    assert "“Mine” was changed since it was saved." in page


def test_rows_that_are_polled_have_the_same_columns(as_viewer: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": "results"}
    html = as_viewer.get("/audiences/?columns=name,id", headers=headers).text
    assert 'data-label="Audience ID"' in html
    assert 'data-label="Latest version"' not in html
