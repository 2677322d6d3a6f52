"""A selection becomes a release; bad input or a new sign-in loses nothing."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.releases.models import MAX_ITEMS, Release
from tests.conftest import person
from tests.support.html import elements, page_text, response_text, text
from tests.support.many_audiences import ManyAudiences
from tests.web.releases.conftest import NEW, Draft, hidden, url, values

LIST = "/audiences/"
OTHER_AUDIENCE = {"version": ["page_1/aud_1/ver_aud_2_2"], "audience": []}
UNKNOWN_VERSION = {"version": ["page_1/aud_1/nothing"], "audience": []}


def selected(html: str) -> list[str]:
    """Return the audiences that are selected in the form."""
    return [
        element.attributes["value"]
        for element in elements(html, "input")
        if element.attributes.get("name") == "audience" and "checked" in element.attributes
    ]


def log_in(client: Client, user: User, to: str) -> Any:
    login = {"username": user.username, "password": user.username}
    return client.post(to, login, follow=True)


def test_without_a_selection_it_says_where_to_select(as_publisher: Client) -> None:
    html = as_publisher.get(NEW).text
    assert "Select audiences first" in text(html)
    assert "/audiences/" in [element.attributes.get("href") for element in elements(html, "a")]


def test_publish_opens_the_board_of_a_new_release(
    service: ManyAudiences, as_publisher: Client
) -> None:
    keys = service.add(2)
    answer = as_publisher.post(NEW, {"audience": values(keys), "then": "review"})
    release = Release.objects.get()
    assert answer.url == f"{url(release)}?added=1"
    assert [item.audience_id for item in release.items.all()] == ["aud_1", "aud_2"]


def test_a_repeated_form_leads_to_its_release(service: ManyAudiences, as_publisher: Client) -> None:
    first, second = values(service.add(2))
    selection = {"then": "review", "form_key": hidden(as_publisher.get(LIST).text, "form_key")}
    both, again = (
        as_publisher.post(NEW, selection | {"audience": [first, second]}).url for _ in range(2)
    )
    assert both == again
    # The list stays open, and another selection makes another release.
    assert as_publisher.post(NEW, selection | {"audience": [first]}).url != both
    assert Release.objects.count() == 2


def test_the_same_audiences_added_again_lead_to_their_release(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(1)
    form = {"audience": values(service.add(2)), "release": str(release.pk)}
    first, second = (as_publisher.post(NEW, form).url for _ in range(2))
    assert first == second == f"{url(release)}?added=1"
    assert release.items.count() == 3


@pytest.mark.parametrize("then", ["review", "add"])
def test_a_version_in_progress_is_picked_with_a_warning(
    service: ManyAudiences, as_publisher: Client, then: str
) -> None:
    keys = service.add(2)
    service.change(keys[0], latestVersion=service.version(keys[0], 2, status="queued"))
    service.record()
    selection = {"audience": values(keys), "then": then, "release": "new"}
    answer = as_publisher.post(NEW, selection)
    assert answer.status_code == 422
    assert "Nothing to publish: version 2 is already in progress (queued)." in response_text(answer)
    assert selected(answer.text) == values(keys)
    assert not Release.objects.exists()
    as_publisher.post(NEW, selection | {"audience": values(keys[1:])})
    assert Release.objects.get().items.count() == 1


def test_ids_with_any_character_arrive(service: ManyAudiences, as_publisher: Client) -> None:
    service.add(1, page_id="a/b c&d?é%2F")
    key = next(iter(service.audiences))
    as_publisher.post(NEW, {"audience": values([key]), "then": "review"})
    assert Release.objects.get().items.get().page_id == "a/b c&d?é%2F"


def test_add_to_release_offers_the_drafts(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(1)
    keys = service.add(2)
    html = as_publisher.post(NEW, {"audience": values(keys), "then": "add"}).text
    assert "November prices" in text(html)
    assert selected(html) == values(keys)
    as_publisher.post(NEW, {"audience": values(keys), "release": str(release.pk)})
    assert release.items.count() == 3


def test_a_new_release_gets_the_name_and_the_note(
    service: ManyAudiences, as_publisher: Client
) -> None:
    fields = {"audience": values(service.add(1)), "name": "Prices", "note": "For 2027"}
    as_publisher.post(NEW, {"release": "new", **fields})
    release = Release.objects.get()
    assert (release.name, release.note) == ("Prices", "For 2027")


def test_one_version_can_be_scheduled_from_its_dialog(
    service: ManyAudiences, as_publisher: Client
) -> None:
    service.add(1)
    fields = {"version": "page_1/aud_1/ver_aud_1_2", "then": "schedule", "release": "new"}
    answer = as_publisher.post(NEW, fields)
    assert answer.url == url(Release.objects.get(), "schedule")


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
    service: ManyAudiences, as_publisher: Client, differs: dict[str, Any], sentence: str
) -> None:
    keys = values(service.add(2))
    fields = {"audience": keys, "name": "Prices", "note": "For 2027", "release": "new"} | differs
    answer = as_publisher.post(NEW, fields)
    html = answer.text
    assert answer.status_code == 422
    assert sentence in text(html)
    assert fields["note"] in text(html)
    assert f'value="{fields["name"]}"' in html
    if "/" in "".join(fields["audience"]):
        assert selected(html) == fields["audience"]
    assert not Release.objects.exists()


def test_the_selection_is_there_after_a_sign_in(
    service: ManyAudiences, client: Client, paula: User
) -> None:
    keys = values(service.add(3))
    answer = client.post(NEW, {"audience": keys, "then": "add"})
    page = log_in(client, paula, answer.url)
    assert "What you entered was saved." in response_text(page)
    assert selected(page.text) == keys
    assert not Release.objects.exists()


def expired(client: Client, address: str, **fields: str) -> Any:
    """Open a form, end the session, and submit the form."""
    ticket = hidden(client.get(address).text, "ticket")
    client.logout()
    return client.post(address, {"ticket": ticket, **fields})


def test_a_name_and_note_are_kept_after_sign_in(
    draft: Draft, as_publisher: Client, paula: User
) -> None:
    release = draft(1)
    answer = expired(as_publisher, url(release, "edit"), name="Other", note="Typed long")
    html = log_in(as_publisher, paula, answer.url).text
    assert 'value="Other"' in html
    assert "Typed long" in text(html)


def test_a_schedule_is_there_after_a_sign_in(
    draft: Draft, as_publisher: Client, paula: User
) -> None:
    fields = {"date": "2030-03-12", "time": "14:30", "zone": "Asia/Tokyo"}
    answer = expired(as_publisher, url(draft(1), "schedule"), **fields)
    html = log_in(as_publisher, paula, answer.url).text
    assert all(f'value="{value}"' in html for value in fields.values())


@pytest.mark.parametrize("step", ["publish", "continue", "request-approval"])
def test_a_decision_form_survives_a_sign_in(
    draft: Draft, as_publisher: Client, paula: User, step: str
) -> None:
    release = draft(30)
    ticket = hidden(as_publisher.get(url(release)).text, "ticket")
    as_publisher.logout()
    fields = {"ticket": ticket, "typed": "29", "publishes_others": "on"}
    answer = as_publisher.post(url(release, step), fields)
    html = log_in(as_publisher, paula, answer.url).text
    assert 'name="typed" value="29"' in html
    assert 'name="publishes_others" value="on" checked' in html
    assert set(release.items.values_list("state", flat=True)) == {"waiting"}


def test_typed_text_is_not_shown_to_another_user(draft: Draft, as_publisher: Client) -> None:
    release = draft(1)
    answer = expired(as_publisher, url(release, "edit"), name="Other", note="Typed long")
    page = log_in(as_publisher, person("paul", "Publishers"), answer.url)
    assert "Typed long" not in response_text(page)


def test_another_site_cannot_put_a_selection_into_a_form(
    service: ManyAudiences, paula: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(paula)
    answer = client.post(NEW, {"audience": values(service.add(1)), "then": "add"})
    assert answer.status_code == 403
    assert "Select audiences first" in page_text(client, f"{NEW}?resume=1")


def test_a_form_of_an_earlier_session_is_shown_again(
    draft: Draft, as_publisher: Client, paula: User
) -> None:
    release = draft(1)
    ticket = hidden(as_publisher.get(url(release, "edit")).text, "ticket")
    client = Client(enforce_csrf_checks=True)
    client.force_login(paula)
    fields = {"ticket": ticket, "name": "Other", "note": ""}
    page = client.post(url(release, "edit"), fields, follow=True)
    assert "Your session changed. Nothing was sent; submit again." in response_text(page)
    assert 'value="Other"' in page.text


def test_an_overlong_name_is_refused_and_kept(draft: Draft, as_publisher: Client) -> None:
    release = draft(1)
    answer = as_publisher.post(url(release, "edit"), {"name": "x" * 201, "note": "A note"})
    assert answer.status_code == 422
    assert "The name has 201 characters." in response_text(answer)
    assert "A note" in response_text(answer)


def test_name_and_note_are_saved(draft: Draft, as_publisher: Client) -> None:
    release = draft(1)
    as_publisher.post(url(release, "edit"), {"name": "Other", "note": "A note"})
    page = page_text(as_publisher, url(release))
    assert "Other" in page
    assert "A note" in page
