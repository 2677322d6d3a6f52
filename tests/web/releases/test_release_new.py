"""A selection becomes a release; bad input or a new sign-in loses nothing."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.releases.models import MAX_ITEMS, Release
from tests.conftest import person
from tests.support.html import elements
from tests.support.many_audiences import ManyAudiences
from tests.support.release_form import ReleaseForm, values
from tests.support.release_page import Board, ReleasePage
from tests.web.releases.conftest import Draft

OTHER_AUDIENCE = {"version": ["page_1/aud_1/ver_aud_2_2"], "audience": []}
UNKNOWN_VERSION = {"version": ["page_1/aud_1/nothing"], "audience": []}


@pytest.fixture
def form(as_publisher: Client) -> ReleaseForm:
    """The form in Paula's browser."""
    return ReleaseForm(as_publisher)


def log_in(page: ReleasePage | ReleaseForm, user: User) -> str:
    """Sign in where a form led to; return the text of the next page."""
    login = {"username": user.username, "password": user.username}
    return page.show(page.client.post(page.location, login, follow=True)).text


def test_without_a_selection_it_says_where_to_select(form: ReleaseForm) -> None:
    assert "Select audiences first" in form.open().text
    links = [element.attributes.get("href") for element in elements(form.html, "a")]
    assert "/audiences/" in links


def test_publish_opens_the_board_of_a_new_release(
    service: ManyAudiences, form: ReleaseForm
) -> None:
    form.review(service.add(2))
    assert form.location == f"/releases/{form.release.pk}/?added=1"
    audiences = form.release.items.values_list("audience_id", flat=True)
    assert list(audiences) == ["aud_1", "aud_2"]


def test_a_repeated_form_leads_to_its_release(service: ManyAudiences, form: ReleaseForm) -> None:
    keys = service.add(2)
    form_key = form.show(form.client.get("/audiences/")).value("form_key")
    both, again = (form.review(keys, form_key=form_key).location for _ in range(2))
    assert both == again
    # The list stays open, and another selection makes another release.
    assert form.review(keys[:1], form_key=form_key).location != both
    assert Release.objects.count() == 2


def test_the_same_audiences_added_again_lead_to_their_release(
    service: ManyAudiences, draft: Draft, form: ReleaseForm
) -> None:
    release, keys = draft(1), service.add(2)
    first, second = (form.save(keys, release).location for _ in range(2))
    assert first == second == f"/releases/{release.pk}/?added=1"
    assert release.items.count() == 3


@pytest.mark.parametrize("then", ["review", "add"])
def test_a_version_in_progress_is_picked_with_a_warning(
    service: ManyAudiences, form: ReleaseForm, then: str
) -> None:
    keys = service.add(2)
    service.change(keys[0], latestVersion=service.version(keys[0], 2, status="queued"))
    service.record()
    assert form.save(keys, then=then).status == 422
    assert "Nothing to publish: version 2 is already in progress (queued)." in form.text
    assert form.selected == values(keys)
    assert not Release.objects.exists()
    form.save(keys[1:], then=then)
    assert form.release.items.count() == 1


def test_ids_with_any_character_arrive(service: ManyAudiences, form: ReleaseForm) -> None:
    form.review(service.add(1, page_id="a/b c&d?é%2F"))
    assert form.release.items.get().page_id == "a/b c&d?é%2F"


def test_add_to_release_offers_the_drafts(
    service: ManyAudiences, draft: Draft, form: ReleaseForm
) -> None:
    release = draft(1)
    keys = service.add(2)
    assert "November prices" in form.add(keys).text
    assert form.selected == values(keys)
    form.save(keys, release)
    assert release.items.count() == 3


def test_a_new_release_gets_the_name_and_the_note(
    service: ManyAudiences, form: ReleaseForm
) -> None:
    form.save(service.add(1), name="Prices", note="For 2027")
    assert (form.release.name, form.release.note) == ("Prices", "For 2027")


def test_one_version_can_be_scheduled_from_its_dialog(
    service: ManyAudiences, form: ReleaseForm
) -> None:
    service.add(1)
    form.post(version="page_1/aud_1/ver_aud_1_2", then="schedule", release="new")
    assert form.location == f"/releases/{form.release.pk}/schedule/"


@pytest.mark.parametrize(
    ("differs", "sentence"),
    [
        ({"name": "x" * 201}, "The name has 201 characters. The maximum is 200."),
        ({"note": "y" * 2001}, "The note has 2,001 characters. The maximum is 2,000."),
        ({"audience": []}, "Select at least one audience."),
        ({"audience": ["page_1/aud_1", "page_1/aud_1"]}, "This audience is selected twice."),
        ({"audience": ["page_1/aud_9"]}, "This audience isn’t recorded here."),
        ({"audience": ["page_1"]}, "A selected audience can’t be read."),
        ({"audience": ["page_1/aud_1"] * (MAX_ITEMS + 1)}, "A release has at most 500 versions."),
        ({"release": "999"}, "Choose a release."),
        (OTHER_AUDIENCE, "This version belongs to another audience."),
        (UNKNOWN_VERSION, "This version isn’t recorded here."),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_bad_input_gets_its_sentence_and_nothing_is_lost(
    service: ManyAudiences, form: ReleaseForm, differs: dict[str, Any], sentence: str
) -> None:
    fields = {"audience": values(service.add(2)), "name": "Prices", "note": "For 2027"}
    fields |= {"release": "new"} | differs
    assert form.post(**fields).status == 422
    assert sentence in form.text
    assert fields["note"] in form.text
    assert form.value("name") == fields["name"]
    if "/" in "".join(fields["audience"]):
        assert form.selected == fields["audience"]
    assert not Release.objects.exists()


def test_all_bad_inputs_are_named_at_once(service: ManyAudiences, form: ReleaseForm) -> None:
    service.add(1)
    form.post(audience=["page_1/aud_9"], name="x" * 201, note="y" * 2001, release="new")
    for sentence in ("isn’t recorded here.", "The name has 201", "The note has 2,001"):
        assert sentence in form.text


def test_the_selection_is_there_after_a_sign_in(
    service: ManyAudiences, client: Client, paula: User
) -> None:
    keys = service.add(3)
    form = ReleaseForm(client).add(keys)
    assert "What you entered was saved." in log_in(form, paula)
    assert form.selected == values(keys)
    assert not Release.objects.exists()


def expired(page: ReleasePage, *steps: str, at: str = "", **fields: str) -> ReleasePage:
    """Open a form, end the session, and submit the form, by default to the URL of its page."""
    ticket = page.open(*steps).value("ticket")
    page.client.logout()
    return page.post(*([at] if at else steps), ticket=ticket, **fields)


def test_a_name_and_note_are_kept_after_sign_in(board: Board, paula: User) -> None:
    page = expired(board(1), "edit", name="Other", note="Typed long")
    assert "Typed long" in log_in(page, paula)
    assert page.value("name") == "Other"


def test_a_schedule_is_there_after_a_sign_in(board: Board, paula: User) -> None:
    fields = {"date": "2030-03-12", "time": "14:30", "zone": "Asia/Tokyo"}
    page = expired(board(1), "schedule", **fields)
    log_in(page, paula)
    assert all(f'value="{value}"' in page.html for value in fields.values())


@pytest.mark.parametrize("step", ["publish", "continue", "request-approval"])
def test_a_decision_form_survives_a_sign_in(board: Board, paula: User, step: str) -> None:
    page = expired(board(30), at=step, typed="29", publishes_others="on")
    log_in(page, paula)
    assert page.value("typed") == "29"
    assert "checked" in page.field("publishes_others")
    assert {item.state for item in page.items} == {"waiting"}


def test_typed_text_is_not_shown_to_another_user(board: Board) -> None:
    page = expired(board(1), "edit", name="Other", note="Typed long")
    assert "Typed long" not in log_in(page, person("paul", "Publishers"))


def test_another_site_cannot_put_a_selection_into_a_form(
    service: ManyAudiences, paula: User
) -> None:
    form = ReleaseForm(Client(enforce_csrf_checks=True))
    form.client.force_login(paula)
    assert form.add(service.add(1)).status == 403
    assert "Select audiences first" in form.open("?resume=1").text


def test_a_form_of_an_earlier_session_is_shown_again(board: Board, paula: User) -> None:
    page = board(1)
    ticket = page.open("edit").value("ticket")
    page.client = Client(enforce_csrf_checks=True)
    page.client.force_login(paula)
    page.post("edit", follow=True, ticket=ticket, name="Other", note="")
    assert "Your session changed. Nothing was sent; submit again." in page.text
    assert page.value("name") == "Other"


def test_an_overlong_name_is_refused_and_kept(board: Board) -> None:
    page = board(1)
    assert page.post("edit", name="x" * 201, note="A note").status == 422
    assert "The name has 201 characters." in page.text
    assert "A note" in page.text


def test_name_and_note_are_saved(board: Board) -> None:
    page = board(1)
    page.post("edit", name="Other", note="A note")
    seen = page.open().text
    assert "Other" in seen
    assert "A note" in seen
