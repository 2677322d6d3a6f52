"""Saving, changing and deleting views: ownership and refusals."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.test import Client

from dashboard.saved_views.models import DefaultView, SavedView
from dashboard.saved_views.queries import views_of
from dashboard.saved_views.rules import MAX_VIEWS
from tests.conftest import logged_in, person
from tests.support.saved_views import NEW, SavedViews
from tests.support.seeding import seed_view

pytestmark = pytest.mark.django_db


def test_a_saved_list_opens_by_its_plain_url(views: SavedViews) -> None:
    views.save(state="live=changed&sort=name", name=" Changed ")
    assert views.location == "/audiences/?live=changed&sort=name"
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
    views: SavedViews, list_name: str, state: str, saved: str
) -> None:
    views.save(list_name, state=state)
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
def test_an_unsavable_view_is_refused(
    views: SavedViews, fields: dict[str, str], sentence: str
) -> None:
    assert views.save(**fields, default="1").status == 422
    assert sentence in views.text
    assert not SavedView.objects.exists()


def test_htmx_swaps_a_refused_form_in_place(as_viewer: Client) -> None:
    form = {"list": "audiences", "state": "live=changed", "name": "<b>"}
    headers = {"HX-Request": "true", "HX-Target": "save-view-fields"}
    assert as_viewer.post(NEW, form, headers=headers)["HX-Redirect"] == "/audiences/?live=changed"
    again = as_viewer.post(NEW, form | {"state": "q=spring"}, headers=headers)
    assert again.status_code == 422
    assert again.text.lstrip().startswith('<div class="stack" id="save-view-fields">')
    assert 'value="&lt;b&gt;"' in again.text


def test_a_repeated_form_leads_to_its_view(views: SavedViews) -> None:
    first, second = (views.save().location for _ in range(2))
    assert first == second == "/audiences/?live=changed"
    assert SavedView.objects.count() == 1


def test_a_name_is_unique_for_its_owner_and_list(views: SavedViews, paulas: SavedViews) -> None:
    assert views.save().status == paulas.save().status == 302
    assert views.save("pages", state="q=a").status == 302
    assert "You have a view with this name already." in views.save(state="live=live").text


def test_a_list_has_a_bounded_number_of_views(views: SavedViews, vera: User) -> None:
    for number in range(MAX_VIEWS):
        seed_view(vera, number + 1)
    assert views.save().status == 422


def test_publishers_and_administrators_save_views_of_the_team(
    views: SavedViews, paulas: SavedViews, as_administrator: Client
) -> None:
    assert views.save(share="team").status == 403
    assert paulas.save(share="team").status == 302
    assert SavedViews(as_administrator).save(share="team", name="Other").status == 302
    assert SavedView.objects.filter(owner=None).count() == 2
    assert "Changed" in views.open("/audiences/").text


def test_the_view_of_another_user_is_nowhere(paulas: SavedViews, vera: User) -> None:
    seed_view(vera, name="Veras own")
    for url in ("/audiences/", "/saved-views/", "/find/?q=veras", "/audiences/?live=live&view=1"):
        assert "Veras own" not in paulas.open(url).text
    assert paulas.edit().status == 404
    for act in ("delete", "save"):
        assert paulas.press(act).status == 404


def test_a_view_of_people_is_never_the_teams(paulas: SavedViews, paula: User) -> None:
    assert "Everyone" not in paulas.open(f"{NEW}?list=people&state=q%3Dada").text
    assert paulas.save("people", state="q=ada", share="team").status == 422
    assert "A view of people can’t be shared" in paulas.text
    view = seed_view(paula, list_name="people", query="q=ada")
    assert paulas.edit(name="x", share="team").status == 422
    with pytest.raises(IntegrityError), transaction.atomic():
        SavedView.objects.filter(pk=view.pk).update(owner=None)


def test_a_changed_list_is_saved_in_its_view(views: SavedViews, vera: User) -> None:
    seed_view(vera)
    views.press("save", state="status=draft&live=changed")
    assert views.location == "/audiences/?live=changed&status=draft"
    assert SavedView.objects.get().query == "live=changed&status=draft"


def test_changes_of_team_views_are_on_record(as_administrator: Client) -> None:
    seed_view(None)
    adas = SavedViews(as_administrator)
    adas.press("save", state="live=live")
    page = adas.open("/saved-views/1/").text
    assert "Created by paula," in page
    assert "Last changed by ada," in page


def test_a_view_is_renamed_shared_and_made_default(paulas: SavedViews, paula: User) -> None:
    seed_view(paula)
    paulas.edit(name="Prices", share="team", team_default="1")
    assert paulas.location == "/saved-views/"
    view = SavedView.objects.get()
    assert (view.name, view.owner) == ("Prices", None)
    assert DefaultView.objects.get().user is None


def test_an_unshared_view_is_no_default_of_others(views: SavedViews, paulas: SavedViews) -> None:
    seed_view(None)
    views.set_default()
    paulas.set_default()
    paulas.edit(name="Mine now", share="me")
    assert [item.user.username for item in DefaultView.objects.all() if item.user] == ["paula"]


def test_a_view_is_moved_among_those_of_its_list(paulas: SavedViews, paula: User) -> None:
    for name, list_name in {"A": "audiences", "P": "pages", "B": "audiences"}.items():
        paulas.save(list_name, name=name, state="q=x")
    seed_view(None, 1_000, name="Team")
    pks = {view.name: view.pk for view in views_of(paula)}

    def moved(name: str, direction: str) -> list[str]:
        paulas.press("move", pks[name], move=direction)
        return [view.name for view in views_of(paula)]

    assert moved("A", "up") == ["A", "P", "B", "Team"]
    assert moved("A", "down") == ["B", "P", "A", "Team"]
    assert moved("A", "down") == ["B", "P", "A", "Team"]
    assert moved("A", "up") == ["A", "P", "B", "Team"]
    paulas.save(name="Last", state="q=y")
    assert [view.name for view in views_of(paula)] == ["A", "P", "B", "Last", "Team"]


def test_team_views_are_listed_last(paulas: SavedViews, paula: User) -> None:
    seed_view(paula, 1)
    seed_view(None, 2, position=4)
    paulas.edit(name="Prices", share="team")
    assert [view.pk for view in views_of(paula)] == [2, 1]


def test_a_view_is_deleted_after_a_confirmation(views: SavedViews, vera: User) -> None:
    seed_view(vera, name="Old & gone")
    assert "Delete “Old & gone”?" in views.open("/saved-views/1/delete/").text
    assert SavedView.objects.exists()
    views.press("delete")
    assert not SavedView.objects.exists()


def test_a_deleted_account_takes_its_views() -> None:
    nora, root = person("nora", "Viewers"), User.objects.create_superuser("root", password="root")
    seed_view(nora, list_name="people", name="Jane Doe", query="q=jane")
    seed_view(None, 2)
    page = SavedViews(logged_in(root)).open(f"/admin/auth/user/{nora.pk}/delete/").text
    assert "saved view 1" in page
    assert "Jane Doe" not in page
    nora.delete()
    assert [view.pk for view in SavedView.objects.all()] == [2]


@pytest.mark.parametrize("url", [NEW, "/saved-views/1/"])
def test_what_was_typed_outlasts_the_end_of_the_session(
    client: Client, views: SavedViews, vera: User, url: str
) -> None:
    seed_view(vera)
    form = {"list": "people", "state": "q=ada", "name": "Ada & sons", "default": "1"}
    login = QueryDict(client.post(url, form).url.partition("?")[2])
    assert views.open(str(login["next"])).value("name") == "Ada & sons"


@pytest.mark.parametrize("is_ours", [True, False])
def test_typed_text_survives_a_new_session_in_our_forms(vera: User, is_ours: bool) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = logged_in(vera).cookies
    views = SavedViews(browser)
    form = {"state": "q=ada", "name": "Ada & sons", "csrfmiddlewaretoken": "x"}
    if is_ours:
        form["ticket"] = views.open(f"{NEW}?list=people&state=q%3Dada").value("ticket")
    assert views.save("people", **form).status == (302 if is_ours else 403)
    assert not SavedView.objects.exists()
    if is_ours:
        assert views.open(views.location).value("name") == "Ada & sons"


def test_names_and_searches_of_people_are_not_logged(
    views: SavedViews, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    for _ in range(2):
        views.save("people", state="q=jane.doe", name="Jane Doe")
    views.open("/people/")
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
def test_the_form_says_what_is_saved(views: SavedViews, state: str, sentence: str) -> None:
    assert f"Saves {sentence}." in views.open(f"/audiences/?{state}").text
