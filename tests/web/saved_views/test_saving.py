"""Saving, changing and deleting views: ownership and refusals."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client

from dashboard.saved_views.models import DefaultView, SavedView
from dashboard.saved_views.queries import views_of
from dashboard.saved_views.rules import MAX_VIEWS
from tests.conftest import logged_in, person
from tests.support.html import elements, response_text
from tests.support.seeding import seed_view
from tests.web.saved_views.conftest import NEW, followed_text, save

pytestmark = pytest.mark.django_db


def test_a_saved_list_opens_by_its_plain_url(as_viewer: Client) -> None:
    response = save(as_viewer, state="live=changed&sort=name", name=" Changed ")
    assert response.url == "/audiences/?live=changed&sort=name"
    assert SavedView.objects.get().name == "Changed"


@pytest.mark.parametrize(
    ("list_name", "state", "saved"),
    [
        ("audiences", "sort=name&live=live&live=changed", "live=changed&live=live&sort=name"),
        ("audiences", "view=7&sort=-updated&q=an", "q=an"),
        ("pages", "cursor=c&status=draft&columns=name,type&q=", "status=draft&columns=name%2Ctype"),
        ("activity", "outcome=unknown&kind=x&after=key", "kind=x&outcome=unknown"),
        ("people", "person=7&q=ada&back=1-x", "q=ada"),
        ("webhooks", "state=on&id=whs_1", "state=on"),
    ],
)  # fmt: skip
def test_only_known_parameters_are_saved_in_order(
    as_viewer: Client, list_name: str, state: str, saved: str
) -> None:
    save(as_viewer, list_name, state=state)
    assert SavedView.objects.get().query == saved


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "  "}, "Enter a name."),
        ({"name": "x" * 61}, "Enter at most 60 characters."),
        ({"name": "Draft\npages"}, "Remove line breaks and control characters."),
        ({"name": "Draft\u202epages"}, "Remove line breaks and control characters."),
        ({"state": "q="}, "change the display first"),
        ({"state": "&".join(f"status={n:0100}" for n in range(30))}, "Too many filters to save."),
    ],
)
def test_an_unsavable_view_is_refused_and_kept(
    as_viewer: Client, fields: dict[str, str], sentence: str
) -> None:
    response = save(as_viewer, **fields, default="1")
    assert response.status_code == 422
    assert sentence in response_text(response)
    assert not SavedView.objects.exists()


def test_htmx_swaps_a_refused_form_in_place(as_viewer: Client) -> None:
    form = {"list": "audiences", "state": "live=changed", "name": "<b>"}
    headers = {"HX-Request": "true", "HX-Target": "save-view-fields"}
    assert as_viewer.post(NEW, form, headers=headers)["HX-Redirect"] == "/audiences/?live=changed"
    again = as_viewer.post(NEW, form | {"state": "q=spring"}, headers=headers)
    assert again.status_code == 422
    assert again.text.lstrip().startswith('<div class="stack" id="save-view-fields">')
    assert 'value="&lt;b&gt;"' in again.text


def test_a_repeated_form_leads_to_its_view(as_viewer: Client) -> None:
    first, second = (save(as_viewer) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert first.url == second.url
    assert SavedView.objects.count() == 1


def test_a_name_is_unique_for_its_owner_and_list(as_viewer: Client, as_publisher: Client) -> None:
    assert save(as_viewer).status_code == save(as_publisher).status_code == 302
    assert save(as_viewer, "pages", state="q=a").status_code == 302
    again = save(as_viewer, state="live=live")
    assert "You have a view with this name already." in response_text(again)


def test_a_list_has_a_bounded_number_of_views(as_viewer: Client, vera: User) -> None:
    for number in range(MAX_VIEWS):
        seed_view(vera, number + 1)
    assert save(as_viewer).status_code == 422


def test_publishers_and_administrators_save_views_of_the_team(
    as_viewer: Client, as_publisher: Client, as_administrator: Client
) -> None:
    assert save(as_viewer, share="team").status_code == 403
    assert save(as_publisher, share="team").status_code == 302
    assert save(as_administrator, share="team", name="Other").status_code == 302
    assert SavedView.objects.filter(owner=None).count() == 2
    assert "Changed" in followed_text(as_viewer, "/audiences/")


def test_the_view_of_another_user_is_nowhere(as_publisher: Client, vera: User) -> None:
    seed_view(vera, name="Veras own")
    for url in ("/audiences/", "/saved-views/", "/find/?q=veras", "/audiences/?live=live&view=1"):
        assert "Veras own" not in followed_text(as_publisher, url)
    for url in ("/saved-views/1/", "/saved-views/1/delete/", "/saved-views/1/save/"):
        assert as_publisher.post(url).status_code == 404


def test_a_view_of_people_is_never_the_teams(as_publisher: Client, paula: User) -> None:
    assert "Everyone" not in followed_text(as_publisher, f"{NEW}?list=people&state=q%3Dada")
    response = save(as_publisher, "people", state="q=ada", share="team")
    assert response.status_code == 422
    assert "A view of people can’t be shared" in response_text(response)
    view = seed_view(paula, list_name="people", query="q=ada")
    assert as_publisher.post("/saved-views/1/", {"name": "x", "share": "team"}).status_code == 422
    with pytest.raises(IntegrityError), transaction.atomic():
        SavedView.objects.filter(pk=view.pk).update(owner=None)


def test_a_changed_list_is_saved_in_its_view(as_viewer: Client, vera: User) -> None:
    seed_view(vera)
    response = as_viewer.post("/saved-views/1/save/", {"state": "status=draft&live=changed"})
    assert response.url == "/audiences/?live=changed&status=draft"
    assert SavedView.objects.get().query == "live=changed&status=draft"


def test_changes_of_team_views_are_on_record(as_administrator: Client) -> None:
    seed_view(None)
    as_administrator.post("/saved-views/1/save/", {"state": "live=live"})
    page = followed_text(as_administrator, "/saved-views/1/")
    assert "Created by paula," in page
    assert "Last changed by ada," in page


def test_a_view_is_renamed_shared_and_made_default(as_publisher: Client, paula: User) -> None:
    seed_view(paula)
    form = {"name": "Prices", "share": "team", "team_default": "1"}
    assert as_publisher.post("/saved-views/1/", form).url == "/saved-views/"
    view = SavedView.objects.get()
    assert (view.name, view.owner) == ("Prices", None)
    assert DefaultView.objects.get().user is None


def test_an_unshared_view_is_no_default_of_others(as_publisher: Client, as_viewer: Client) -> None:
    seed_view(None)
    as_viewer.post("/saved-views/default/", {"list": "audiences", "view": "1"})
    as_publisher.post("/saved-views/default/", {"list": "audiences", "view": "1"})
    as_publisher.post("/saved-views/1/", {"name": "Mine now", "share": "me"})
    assert [item.user.username for item in DefaultView.objects.all() if item.user] == ["paula"]


def test_a_view_is_moved_among_those_of_its_list(as_publisher: Client, paula: User) -> None:
    for name, list_name in {"A": "audiences", "P": "pages", "B": "audiences"}.items():
        save(as_publisher, list_name, name=name, state="q=x")
    seed_view(None, 1_000, name="Team")

    def moved(pk: int, direction: str) -> list[str]:
        as_publisher.post(f"/saved-views/{pk}/move/", {"move": direction})
        return [view.name for view in views_of(paula)]

    pks = {view.name: view.pk for view in views_of(paula)}
    assert moved(pks["A"], "up") == ["A", "P", "B", "Team"]
    assert moved(pks["A"], "down") == ["B", "P", "A", "Team"]
    assert moved(pks["A"], "down") == ["B", "P", "A", "Team"]
    assert moved(pks["A"], "up") == ["A", "P", "B", "Team"]
    save(as_publisher, "audiences", name="Last", state="q=y")
    assert [view.name for view in views_of(paula)] == ["A", "P", "B", "Last", "Team"]


def test_team_views_are_listed_last(as_publisher: Client, paula: User) -> None:
    seed_view(paula, 1)
    seed_view(None, 2, position=4)
    as_publisher.post("/saved-views/1/", {"name": "Prices", "share": "team"})
    assert [view.pk for view in views_of(paula)] == [2, 1]


def test_a_view_is_deleted_after_a_confirmation(as_viewer: Client, vera: User) -> None:
    seed_view(vera, name="Old & gone")
    assert "Delete “Old & gone”?" in followed_text(as_viewer, "/saved-views/1/delete/")
    assert SavedView.objects.exists()
    as_viewer.post("/saved-views/1/delete/")
    assert not SavedView.objects.exists()


def test_a_deleted_account_takes_its_views() -> None:
    nora, ada = person("nora", "Viewers"), User.objects.create_superuser("root", password="root")
    seed_view(nora, list_name="people", name="Jane Doe", query="q=jane")
    seed_view(None, 2)
    url = f"/admin/auth/user/{nora.pk}/delete/"
    page = logged_in(ada).get(url).text
    assert "saved view 1" in page
    assert "Jane Doe" not in page
    nora.delete()
    assert [view.pk for view in SavedView.objects.all()] == [2]


@pytest.mark.parametrize("url", [NEW, "/saved-views/1/"])
def test_what_was_typed_outlasts_the_end_of_the_session(
    client: Client, as_viewer: Client, vera: User, url: str
) -> None:
    seed_view(vera)
    form = {"list": "people", "state": "q=ada", "name": "Ada & sons", "default": "1"}
    login = client.post(url, form).url
    page = as_viewer.get(_next_of(login)).text
    assert 'value="Ada &amp; sons"' in page


@pytest.mark.parametrize("is_ours", [True, False])
def test_typed_text_survives_a_new_session_in_our_forms(vera: User, is_ours: bool) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = logged_in(vera).cookies
    page = browser.get(f"{NEW}?list=people&state=q%3Dada").text
    [ticket] = [
        element.attributes["value"]
        for element in elements(page, "input")
        if element.attributes.get("name") == "ticket"
    ]
    form = {"list": "people", "state": "q=ada", "name": "Ada & sons", "csrfmiddlewaretoken": "x"}
    response = browser.post(NEW, form | ({"ticket": ticket} if is_ours else {}))
    assert response.status_code == (302 if is_ours else 403)
    assert not SavedView.objects.exists()
    if is_ours:
        assert 'value="Ada &amp; sons"' in browser.get(response.url).text


def _next_of(login: str) -> Any:
    from django.http import QueryDict

    return QueryDict(login.partition("?")[2])["next"]


def test_names_and_searches_of_people_are_not_logged(
    as_viewer: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    save(as_viewer, "people", state="q=jane.doe", name="Jane Doe")
    save(as_viewer, "people", state="q=jane.doe", name="Jane Doe")
    as_viewer.get("/people/", follow=True)
    logged = " ".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "/saved-views/new/" in logged
    assert "jane" not in logged.lower()


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (
            "q=an&live=live&live=changed&status=draft&sort=name",
            "the search, 3 filters and the order",
        ),
        ("status=draft&columns=name", "1 filter and the columns"),
        ("sort=name", "the order"),
    ],
)
def test_the_form_says_what_is_saved(as_viewer: Client, state: str, sentence: str) -> None:
    assert f"Saves {sentence}." in followed_text(as_viewer, f"/audiences/?{state}")
