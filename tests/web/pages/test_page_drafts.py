"""Drafts: input to "Create page" is saved, for its user alone."""

import json
import re
from datetime import timedelta
from threading import Event
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.page_drafts.drafts import DELETE_OLD_DRAFTS
from dashboard.page_drafts.models import PageDraft
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.html import response_text, text
from tests.support.page_form import HTMX, NEW, WHOLE, bodies, creates, form_fields, offered, values

KEEP = "/pages/new/draft/"


def save(client: Client, form: dict[str, str]) -> str:
    response = client.post(KEEP, form, headers=HTMX)
    assert response.status_code == 200
    return response_text(response)


def test_a_draft_is_offered_later_and_complete(
    as_publisher: Client, fake_service: FakeService
) -> None:
    assert re.match(
        r"Draft saved \d\d:\d\d:\d\d\.", save(as_publisher, form_fields(as_publisher) | WHOLE)
    )
    [link] = offered(as_publisher)
    html = as_publisher.get(link).text
    form_values = values(html)
    assert {name: form_values[name] for name in WHOLE if name in form_values} == {
        name: value for name, value in WHOLE.items() if name in form_values
    }
    assert "Speak plainly." in html
    assert '<option value="book" selected>Book a call (book)</option>' in html
    assert "This is your draft from" in text(html)


def test_a_save_returns_the_previews_of_a_link(
    as_publisher: Client, fake_service: FakeService
) -> None:
    message = save(as_publisher, form_fields(as_publisher) | WHOLE)
    assert "title 4, description 0 characters" in message


def test_a_saved_draft_is_what_a_reload_shows(
    as_publisher: Client, fake_service: FakeService
) -> None:
    form = form_fields(as_publisher)
    response = as_publisher.post(KEEP, form | WHOLE, headers=HTMX)
    assert response.headers["HX-Replace-Url"] == offered(as_publisher)[0]
    assert "HX-Replace-Url" not in as_publisher.post(KEEP, form, headers=HTMX).headers


def test_a_draft_is_deleted_once_its_page_is_created(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    form = form_fields(as_publisher) | WHOLE
    save(as_publisher, form)
    as_publisher.post(NEW, form)
    assert offered(as_publisher) == []


def test_a_save_after_the_page_was_created_stores_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    form = form_fields(as_publisher) | WHOLE
    as_publisher.post(NEW, form)
    assert "Draft saved" not in save(as_publisher, form)
    assert offered(as_publisher) == []


@pytest.mark.parametrize(
    ("act", "press"),
    [("rows/", {"rows": "add scripts"}), ("check/", {}), ("", {"name": ""}), ("", {})],
)
def test_every_button_saves_the_draft(
    as_publisher: Client, fake_service: FakeService, act: str, press: dict[str, str]
) -> None:
    fake_service.fails(httpx.ConnectError)
    as_publisher.post(f"{NEW}{act}", form_fields(as_publisher) | WHOLE | press)
    [link] = offered(as_publisher)
    form_values = values(as_publisher.get(link).text)
    assert form_values["actions.0.url"] == WHOLE["actions.0.url"]
    assert ("scripts.1.name" in form_values) is ("rows" in press)


def test_an_untouched_form_leaves_no_draft(as_publisher: Client, fake_service: FakeService) -> None:
    form = form_fields(as_publisher) | {"pageType": "outbound", "brandId": "brand_1"}
    save(as_publisher, form | {"name": "Half"})
    save(as_publisher, form | {"name": " ", "actions.0.url": ""})
    assert offered(as_publisher) == []


def test_two_forms_open_at_once_are_two_drafts(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    first, second = form_fields(as_publisher), form_fields(as_publisher)
    save(as_publisher, first | WHOLE)
    save(as_publisher, second | {"name": "The other"})
    as_publisher.post(NEW, first | WHOLE)
    [link] = offered(as_publisher)
    assert values(as_publisher.get(link).text)["name"] == "The other"


def test_a_resumed_draft_stays_the_same_draft(
    as_publisher: Client, fake_service: FakeService
) -> None:
    save(as_publisher, form_fields(as_publisher) | {"name": "First words"})
    [link] = offered(as_publisher)
    save(as_publisher, form_fields(as_publisher, link) | {"name": "More words"})
    assert offered(as_publisher) == [link]
    assert values(as_publisher.get(link).text)["name"] == "More words"


def test_a_draft_can_be_discarded(as_publisher: Client, fake_service: FakeService) -> None:
    save(as_publisher, form_fields(as_publisher) | {"name": "No use"})
    [link] = offered(as_publisher)
    response = as_publisher.post(f"{NEW}discard/", {"discard": link.partition("=")[2]}, follow=True)
    assert "Discarded draft “No use”." in response_text(response)
    assert offered(as_publisher) == []


def test_no_user_sees_the_draft_of_another(as_publisher: Client, fake_service: FakeService) -> None:
    save(as_publisher, form_fields(as_publisher) | {"name": "Private words"})
    [link] = offered(as_publisher)
    other = logged_in(person("pierre", "Publishers"))
    assert offered(other) == []
    html = other.get(link, follow=True).text
    assert "Private words" not in html
    assert "Draft not found" in text(html)
    other.post(f"{NEW}discard/", {"discard": link.partition("=")[2]})
    assert offered(as_publisher) == [link]


def test_a_form_resumes_after_signing_in_again(
    as_publisher: Client, fake_service: FakeService, paula: User
) -> None:
    form = form_fields(as_publisher) | WHOLE
    as_publisher.logout()
    response = as_publisher.post(NEW, form)
    assert response["Location"].startswith("/accounts/login/?next=/pages/new/%3Fdraft%3D")
    back = as_publisher.post(response["Location"], {"username": "paula", "password": "paula"})
    html = as_publisher.get(back["Location"]).text
    assert values(html)["actions.0.url"] == WHOLE["actions.0.url"]
    assert bodies(fake_service) == []


def test_input_after_sign_out_is_saved(
    as_publisher: Client, fake_service: FakeService, paula: User
) -> None:
    form = form_fields(as_publisher)
    as_publisher.logout()
    message = save(as_publisher, form | {"name": "Typed signed out"})
    assert "You’re signed out. Sign in in another tab" in message
    as_publisher.force_login(paula)
    [link] = offered(as_publisher)
    assert values(as_publisher.get(link).text)["name"] == "Typed signed out"


def test_adding_a_row_after_sign_out_resumes(
    as_publisher: Client, fake_service: FakeService
) -> None:
    form = form_fields(as_publisher) | WHOLE | {"rows": "add actions"}
    as_publisher.logout()
    headers = HTMX | {"HX-Target": "page-form"}
    response = as_publisher.post(f"{NEW}rows/", form, headers=headers)
    assert response["HX-Redirect"].startswith("/accounts/login/?next=/pages/new/%3Fdraft%3D")


@pytest.mark.parametrize(
    ("act", "asks"), [("field/", {"left": "name"}), ("rows/", {"rows": "refresh"})]
)
@pytest.mark.parametrize("has_cookie", [True, False])
def test_background_requests_of_the_form_never_navigate(
    fake_service: FakeService, paula: User, act: str, asks: dict[str, str], has_cookie: bool
) -> None:
    client = checking(paula)
    form = form_fields(client) | WHOLE | asks
    client.logout()
    if has_cookie:
        form |= {
            "csrfmiddlewaretoken": values(client.get("/accounts/login/").text)[
                "csrfmiddlewaretoken"
            ]
        }
    response = client.post(f"{NEW}{act}", form, headers=HTMX)
    assert (response.status_code, response.content) == (204, b"")


def checking(user: User) -> Client:
    """Return a browser with CSRF checks."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client


def test_a_form_from_an_earlier_session_is_kept_unsent(
    fake_service: FakeService, paula: User
) -> None:
    client = checking(paula)
    response = client.post(NEW, form_fields(client) | WHOLE | {"csrfmiddlewaretoken": "x" * 64})
    html = client.get(response["Location"]).text
    assert "Your session changed. Nothing was sent; submit again." in text(html)
    assert values(html)["actions.0.url"] == WHOLE["actions.0.url"]
    assert bodies(fake_service) == []


def test_a_form_of_another_user_is_saved_for_them(
    as_publisher: Client, fake_service: FakeService
) -> None:
    form = form_fields(as_publisher) | WHOLE
    other = checking(person("pierre", "Publishers"))
    response = other.post(NEW, form)
    assert response.status_code == 403
    assert "saved as their draft" in response_text(response)
    assert offered(other) == []
    assert len(offered(as_publisher)) == 1


@pytest.mark.parametrize("ticket", ["", "nonsense", "WzEsImEiXQ:1:x", "\0"])
def test_an_invalid_ticket_saves_nothing(client: Client, paula: User, ticket: str) -> None:
    assert "Not saved" in save(client, WHOLE | {"draft": ticket})
    assert client.post(NEW, WHOLE | {"draft": ticket})["Location"].endswith("next=/")
    assert PageDraft.objects.count() == 0


def test_the_draft_of_an_inactive_user_is_not_saved(
    as_publisher: Client, fake_service: FakeService, paula: User
) -> None:
    form = form_fields(as_publisher) | WHOLE
    User.objects.filter(pk=paula.pk).update(is_active=False)
    assert "Not saved" in save(as_publisher, form)
    assert PageDraft.objects.count() == 0


def test_unusual_text_is_saved_unchanged(as_publisher: Client, fake_service: FakeService) -> None:
    odd = "a\0b\u202e\U0001f600\u2028<script>"
    save(as_publisher, form_fields(as_publisher) | {"name": odd, "tenantId": "x"})
    draft = PageDraft.objects.get()
    assert json.loads(draft.fields_json)["name"] == odd
    assert "tenantId" not in json.loads(draft.fields_json)
    assert draft.fields_json.isascii()
    assert "\0" not in draft.name
    assert "<script>" not in as_publisher.get(NEW).text.replace('<script src="', "")


def test_an_overlong_draft_is_reported_and_not_saved(
    as_publisher: Client, fake_service: FakeService
) -> None:
    form = form_fields(as_publisher)
    save(as_publisher, form | {"name": "Short"})
    message = save(as_publisher, form | {"pageContext": "x" * 1_000_001})
    assert "Too long to save as a draft" in message
    assert "An earlier draft is unchanged." in message
    assert len(offered(as_publisher)) == 1


def test_a_user_keeps_their_ten_latest_drafts(
    as_publisher: Client, fake_service: FakeService
) -> None:
    for number in range(12):
        save(as_publisher, form_fields(as_publisher) | {"name": f"Draft {number}"})
    assert len(offered(as_publisher)) == 10
    html = response_text(as_publisher.get(NEW))
    assert "Draft 11" in html
    assert "Draft 1 " not in html


def test_an_old_draft_is_deleted(as_publisher: Client, fake_service: FakeService) -> None:
    save(as_publisher, form_fields(as_publisher) | {"name": "Old"})
    PageDraft.objects.update(saved_at=timezone.now() - timedelta(days=91))
    assert offered(as_publisher) == []
    DELETE_OLD_DRAFTS.run("worker", Event())
    assert not PageDraft.objects.exists()


def lose(fake_service: FakeService) -> None:
    fake_service.fails(httpx.ReadTimeout)


def test_a_draft_of_a_possible_page_needs_a_check(
    as_publisher: Client, fake_service: FakeService
) -> None:
    lose(fake_service)
    as_publisher.post(NEW, form_fields(as_publisher) | WHOLE)
    [link] = offered(as_publisher)
    html = as_publisher.get(link).text
    assert "Outcome unknown: the page may already exist" in text(html)
    assert values(html)["after"] == Operation.objects.get().operation_key
    again = as_publisher.post(NEW, WHOLE | values(html))
    assert again.status_code == 422
    assert len(bodies(fake_service)) == 1


def test_a_required_check_stays_required_after_more_input(
    as_publisher: Client, fake_service: FakeService
) -> None:
    lose(fake_service)
    html = as_publisher.post(NEW, form_fields(as_publisher) | WHOLE).text
    save(as_publisher, WHOLE | values(html))
    [link] = offered(as_publisher)
    assert "the page may already exist" in response_text(as_publisher.get(link))


def test_a_draft_whose_page_was_found_is_not_offered(
    as_publisher: Client, fake_service: FakeService
) -> None:
    lose(fake_service)
    as_publisher.post(NEW, form_fields(as_publisher) | WHOLE)
    Operation.objects.update(outcome=Outcome.ACCEPTED)
    assert offered(as_publisher) == []


def test_a_draft_that_was_sent_is_not_offered_after_a_prune(
    as_publisher: Client, fake_service: FakeService
) -> None:
    lose(fake_service)
    as_publisher.post(NEW, form_fields(as_publisher) | WHOLE)
    long_ago = timezone.now() - timedelta(days=40)
    Operation.objects.update(outcome=Outcome.ACCEPTED, settled_at=long_ago)
    save(as_publisher, form_fields(as_publisher) | {"name": "Not sent"})
    call_command("prune", "--older-than", "30")
    assert not Operation.objects.exists()
    [link] = offered(as_publisher)
    assert "Not sent" in as_publisher.get(link).text


def test_the_same_draft_in_two_tabs_is_created_once(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    save(as_publisher, form_fields(as_publisher) | WHOLE)
    [link] = offered(as_publisher)
    first, second = form_fields(as_publisher, link), form_fields(as_publisher, link)
    for tab in (first, second):
        as_publisher.post(NEW, tab | WHOLE)
    assert len(bodies(fake_service)) == 1


def test_a_save_makes_no_call_and_few_queries(
    as_publisher: Client, fake_service: FakeService, django_assert_max_num_queries: Any
) -> None:
    form = form_fields(as_publisher) | WHOLE
    with django_assert_max_num_queries(10):
        save(as_publisher, form)
    assert fake_service.sent == []
