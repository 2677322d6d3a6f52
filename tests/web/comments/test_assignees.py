"""Assignees: one per audience, set for one or many audiences, filtered, counted and cleared."""

from functools import partial
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboard.ledger.models import AudienceRecord
from dashboard.releases.models import MAX_ITEMS
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.interleaving import before_statement, before_transaction, begun, held_at
from tests.support.live_page import LivePage
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages, seed_view

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _audiences(fake_service: FakeService) -> None:
    names = {1: "Brightwater Foods", 2: "Nordlys", 3: "Hanseatic"}
    audiences = [
        wire.audience(audienceId=f"aud_{n}", effectiveName=name) for n, name in names.items()
    ]
    serve(fake_service, *audiences)
    seed_pages(wire.page())
    seed_audiences(*audiences)


def assign(client: Client, *numbers: int, to: User | None, status: int = 302, **fields: str) -> str:
    audiences = [f"page_1/aud_{number}" for number in numbers]
    fields = {"assignee": str(to.pk) if to else "none"} | fields
    response = client.post("/audiences/assign/", {"audience": audiences, **fields})
    assert response.status_code == status
    return str(response.text)


def listed(client: Client, assignee: str) -> list[str]:
    html = client.get(f"/audiences/?sort=name&assignee={quote(assignee)}").text
    return [name for name in ("Brightwater Foods", "Nordlys", "Hanseatic") if name in text(html)]


def test_a_selection_is_assigned_and_filtered(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, 2, to=vera)
    assert listed(as_publisher, "@vera") == ["Brightwater Foods", "Nordlys"]
    assert listed(as_publisher, "none") == ["Hanseatic"]
    assign(as_publisher, 2, to=None)
    assert listed(as_publisher, "@vera") == ["Brightwater Foods"]


@pytest.mark.parametrize("url", ["/audiences/?q=nord&sort=name", "/pages/page_1/?q=nord"])
def test_a_selection_returns_to_its_list(as_publisher: Client, vera: User, url: str) -> None:
    selection = as_publisher.get(url).text.partition("data-selection=")[2]
    inputs = [element.attributes for element in elements(selection, "input")]
    assert {"type": "hidden", "name": "next", "value": url} in inputs
    fields = {"audience": "page_1/aud_2", "next": url}
    form = as_publisher.post("/audiences/assign/", fields).text
    assert url in [element.attributes.get("href") for element in elements(form, "a")]
    response = as_publisher.post("/audiences/assign/", fields | {"assignee": str(vera.pk)})
    assert response["Location"] == url


@pytest.mark.parametrize("name", ["me", "none"])
def test_users_named_like_a_value_can_be_chosen(as_publisher: Client, name: str) -> None:
    assign(as_publisher, 1, to=person(name))
    assert listed(as_publisher, f"@{name}") == ["Brightwater Foods"]
    assert "Brightwater Foods" not in listed(as_publisher, name)
    page = as_publisher.get("/pages/page_1/audiences/aud_1/comments/").text
    assert f'href="/audiences/?assignee=@{name}"' in page


@pytest.mark.parametrize("value", ["@nobody", "vera"])
def test_an_unknown_assignee_is_named_and_ignored(
    as_publisher: Client, vera: User, value: str
) -> None:
    html = as_publisher.get(f"/audiences/?assignee={value}").text
    assert f"“{value}” doesn’t exist anymore and is ignored." in text(html)


def test_all_that_match_a_filter_are_assigned(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, to=vera, all_matching="1", query="?q=nord")
    assert listed(as_publisher, "@vera") == ["Nordlys"]


def test_all_that_match_can_be_more_than_a_release_takes(as_publisher: Client, vera: User) -> None:
    seed_audiences(*(wire.audience(audienceId=f"more_{n}") for n in range(MAX_ITEMS + 1)))
    assert f"Assign all {MAX_ITEMS + 4} that match" in text(as_publisher.get("/audiences/").text)
    form = as_publisher.get("/audiences/assign/?all_matching=1&query=").text
    assert "Assign 504 audiences" in text(form)
    assert "page_1/more_1" not in form
    assign(as_publisher, to=vera, all_matching="1", query="")
    assert AudienceRecord.objects.filter(assignee=vera).count() == MAX_ITEMS + 4


def test_a_view_of_own_audiences_is_that_of_its_viewer(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, 2, to=vera)
    seed_view(None, name="Mine", query="assignee=me")
    assert listed(as_publisher, "me") == []
    assert "Mine 0" in text(as_publisher.get("/audiences/").text)
    viewer = logged_in(vera)
    assert listed(viewer, "me") == ["Brightwater Foods", "Nordlys"]
    assert "Mine 2" in text(viewer.get("/audiences/").text)
    assert len(viewer.get("/audiences/export.csv?assignee=me").getvalue().splitlines()) == 3


def test_the_assignee_is_named_on_the_audience(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, to=vera)
    page = as_publisher.get("/pages/page_1/audiences/aud_1/comments/").text
    assert "Assigned to vera" in text(page)
    assert "/audiences/assign/?audience=page_1%2Faud_1" in page
    viewer = logged_in(vera)
    assert "/assign/" not in viewer.get("/pages/page_1/audiences/aud_1/comments/").text


def test_the_sidebar_counts_own_audiences(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, 3, to=vera)
    html = logged_in(vera).get("/audiences/").text
    assert "Assigned to you 2" in text(html)
    assert "Assigned to you" not in text(as_publisher.get("/audiences/").text)


def test_a_viewer_assigns_nothing(as_viewer: Client, vera: User) -> None:
    refusal = assign(as_viewer, 1, to=vera, status=403)
    assert "You need the Publisher role to assign audiences." in text(refusal)


def test_a_deactivated_account_is_assigned_nothing(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, 2, to=vera)
    vera.is_active = False
    vera.save()
    assert not AudienceRecord.objects.exclude(assignee=None).exists()
    assert "Choose a person" in assign(as_publisher, 1, to=vera, status=422)


def test_an_assignee_disabled_by_sql_counts_as_unassigned(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, to=vera)
    User.objects.filter(pk=vera.pk).update(is_active=False)
    assert listed(as_publisher, "none") == ["Brightwater Foods", "Nordlys", "Hanseatic"]


def test_reading_an_audience_again_keeps_its_assignee(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, to=vera)
    seed_audiences(wire.audience(effectiveName="Brightwater Group"))
    assert AudienceRecord.objects.get(audience_id="aud_1").assignee == vera


@pytest.mark.same_on_any_database  # See test_poll.py.
def test_an_open_page_counts_new_assignments(
    as_publisher: Client, as_viewer: Client, vera: User
) -> None:
    page = LivePage(as_viewer)
    assign(as_publisher, 1, to=vera)
    assert "Assigned to you 1" in text(page.poll().html)


def test_assignees_are_in_the_export(as_publisher: Client, vera: User) -> None:
    assign(as_publisher, 1, to=vera)
    response = as_publisher.get("/audiences/export.csv?sort=name")
    rows = response.getvalue().decode().splitlines()
    assert "Assignee" in rows[0]
    assert "vera" in rows[1]


def test_removing_a_person_removes_no_comment(as_publisher: Client) -> None:
    ben = person("ben")
    fields = {"place": "audience:page_1:aud_1", "body": "Where does 71 come from?"}
    logged_in(ben).post("/comments/new/", fields)
    assign(as_publisher, 1, to=ben)
    ben.delete()
    page = as_publisher.get("/pages/page_1/audiences/aud_1/comments/").text
    assert "Where does 71 come from?" in text(page)
    assert "Assigned to" not in text(page)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_account_turned_off_at_that_moment_is_refused(as_publisher: Client, vera: User) -> None:
    with held_at(
        before_transaction(), partial(assign, as_publisher, 1, to=vera, status=422)
    ) as form:
        vera.is_active = False
        vera.save()
    assert "The account of vera is turned off." in text(form.result())
    assert not AudienceRecord.objects.exclude(assignee=None).exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_assignment_waits_for_a_read_of_its_page(as_publisher: Client, vera: User) -> None:
    read = partial(seed_audiences, wire.audience(audienceId="aud_1", effectiveName="Renamed"))
    with held_at(before_statement("INSERT INTO", "ledger_audiencerecord"), read):
        at_page = before_statement("ledger_pagerecord", "FOR UPDATE")
        assigning = begun(at_page, partial(assign, as_publisher, 1, 2, to=vera))
    assigning.result()
    assert AudienceRecord.objects.filter(assignee=vera).count() == 2
