"""Drafts: input to "Create page" is saved for its user only."""

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
from tests.support.page_form import HTMX, WHOLE, PageForm, values


def is_whole(form: PageForm) -> bool:
    """Return whether each field of the form has its value in WHOLE."""
    fields = form.fields
    return all(fields[name] == value for name, value in WHOLE.items() if name in fields)


def test_a_draft_is_offered_later_and_complete(form: PageForm) -> None:
    assert re.match(r"Draft saved \d\d:\d\d:\d\d\.", form.save(form.whole()))
    assert is_whole(form.open_draft())
    assert "Speak plainly." in form.html
    assert '<option value="book" selected>Book a call (book)</option>' in form.html
    assert "This is your draft from" in form.text


def test_a_save_returns_the_previews_of_a_link(form: PageForm) -> None:
    assert "Title 44 of 600 px" in form.save(form.whole())


def test_a_saved_draft_is_what_a_reload_shows(form: PageForm) -> None:
    fields = form.new()
    form.save(fields | WHOLE)
    assert form.headers["HX-Replace-Url"] == form.drafts[0]
    form.save(fields)
    assert "HX-Replace-Url" not in form.headers


def test_a_draft_is_deleted_once_its_page_is_created(form: PageForm) -> None:
    fields = form.whole()
    form.save(fields)
    form.post(fields)
    assert form.drafts == []


def test_a_save_after_the_page_was_created_stores_nothing(form: PageForm) -> None:
    fields = form.whole()
    form.post(fields)
    assert "Draft saved" not in form.save(fields)
    assert form.drafts == []


@pytest.mark.parametrize(
    ("act", "press"),
    [("rows/", {"rows": "add scripts"}), ("check/", {}), ("", {"name": ""}), ("", {})],
)
def test_every_button_saves_the_draft(form: PageForm, act: str, press: dict[str, str]) -> None:
    form.service.fails(httpx.ConnectError)
    form.post(form.whole() | press, act)
    fields = form.open_draft().fields
    assert fields["actions.0.url"] == WHOLE["actions.0.url"]
    assert ("scripts.1.name" in fields) is ("rows" in press)


def test_an_untouched_form_leaves_no_draft(form: PageForm) -> None:
    fields = form.new(pageType="outbound", brandId="brand_1")
    form.save(fields | {"name": "Half"})
    form.save(fields | {"name": " ", "actions.0.url": ""})
    assert form.drafts == []


def test_two_forms_open_at_once_are_two_drafts(form: PageForm) -> None:
    first, second = form.whole(), form.new(name="The other")
    form.save(first)
    form.save(second)
    form.post(first)
    assert form.open_draft().fields["name"] == "The other"


def test_a_resumed_draft_stays_the_same_draft(form: PageForm) -> None:
    form.save(form.new(name="First words"))
    [link] = form.drafts
    form.save(form.new(link, name="More words"))
    assert form.drafts == [link]
    assert form.open_draft().fields["name"] == "More words"


def test_a_draft_can_be_discarded(form: PageForm) -> None:
    form.save(form.new(name="No use"))
    [link] = form.drafts
    form.post({"discard": link.partition("=")[2]}, "discard/", follow=True)
    assert "Discarded draft “No use”." in form.text
    assert form.drafts == []


def test_no_user_sees_the_draft_of_another(form: PageForm) -> None:
    form.save(form.new(name="Private words"))
    [link] = form.drafts
    other = PageForm(logged_in(person("pierre", "Publishers")), form.service)
    assert other.drafts == []
    assert "Draft not found" in other.open(link).text
    assert "Private words" not in other.html
    other.post({"discard": link.partition("=")[2]}, "discard/")
    assert form.drafts == [link]


def test_a_form_resumes_after_signing_in_again(form: PageForm) -> None:
    fields = form.whole()
    form.client.logout()
    login = form.post(fields).location
    assert login.startswith("/accounts/login/?next=/pages/new/%3Fdraft%3D")
    form.show(form.client.post(login, {"username": "paula", "password": "paula"}, follow=True))
    assert is_whole(form)
    assert form.bodies == []


def test_input_after_sign_out_is_saved(form: PageForm, paula: User) -> None:
    fields = form.new(name="Typed signed out")
    form.client.logout()
    assert "You’re signed out. Sign in in another tab" in form.save(fields)
    form.client.force_login(paula)
    assert form.open_draft().fields["name"] == "Typed signed out"


def test_adding_a_row_after_sign_out_resumes(form: PageForm) -> None:
    fields = form.whole(rows="add actions")
    form.client.logout()
    form.post(fields, "rows/", headers=HTMX | {"HX-Target": "page-form"})
    assert form.headers["HX-Redirect"].startswith("/accounts/login/?next=/pages/new/%3Fdraft%3D")


@pytest.fixture
def checked_form(paula: User, fake_service: FakeService) -> PageForm:
    """The form in a browser whose CSRF token is checked."""
    return PageForm(checking(paula), fake_service)


def checking(user: User) -> Client:
    """Return a browser with CSRF checks."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("act", "asks"), [("field/", {"left": "name"}), ("rows/", {"rows": "refresh"})]
)
@pytest.mark.parametrize("has_cookie", [True, False])
def test_background_requests_of_the_form_never_navigate(
    checked_form: PageForm, act: str, asks: dict[str, str], has_cookie: bool
) -> None:
    fields = checked_form.whole(**asks)
    checked_form.client.logout()
    if has_cookie:
        token = values(checked_form.client.get("/accounts/login/").text)["csrfmiddlewaretoken"]
        fields["csrfmiddlewaretoken"] = token
    checked_form.post(fields, act, headers=HTMX)
    assert (checked_form.status, checked_form.html) == (204, "")


def test_a_form_from_an_earlier_session_is_kept_unsent(checked_form: PageForm) -> None:
    checked_form.post(checked_form.whole(csrfmiddlewaretoken="x" * 64), follow=True)
    assert "Your session changed. Nothing was sent; submit again." in checked_form.text
    assert is_whole(checked_form)
    assert checked_form.bodies == []


def test_a_form_of_another_user_is_saved_for_them(form: PageForm) -> None:
    other = PageForm(checking(person("pierre", "Publishers")), form.service)
    assert other.post(form.whole()).status == 403
    assert "saved as their draft" in other.text
    assert other.drafts == []
    assert len(form.drafts) == 1


@pytest.mark.parametrize("ticket", ["", "nonsense", "WzEsImEiXQ:1:x", "\0"])
def test_an_invalid_ticket_saves_nothing(form: PageForm, ticket: str) -> None:
    form.client.logout()
    assert "Not saved" in form.save(WHOLE | {"draft": ticket})
    assert form.post(WHOLE | {"draft": ticket}).location.endswith("next=/")
    assert PageDraft.objects.count() == 0


def test_the_draft_of_an_inactive_user_is_not_saved(form: PageForm, paula: User) -> None:
    fields = form.whole()
    User.objects.filter(pk=paula.pk).update(is_active=False)
    assert "Not saved" in form.save(fields)
    assert PageDraft.objects.count() == 0


def test_unusual_text_is_saved_unchanged(form: PageForm) -> None:
    odd = "a\0b\u202e\U0001f600\u2028<script>"
    form.save(form.new(name=odd, tenantId="x"))
    draft = PageDraft.objects.get()
    assert json.loads(draft.fields_json)["name"] == odd
    assert "tenantId" not in json.loads(draft.fields_json)
    assert draft.fields_json.isascii()
    assert "\0" not in draft.name
    assert "<script>" not in form.open().html.replace('<script src="', "")


def test_an_overlong_draft_is_reported_and_not_saved(form: PageForm) -> None:
    fields = form.new(name="Short")
    form.save(fields)
    message = form.save(fields | {"pageContext": "x" * 1_000_001})
    assert "Too long to save as a draft" in message
    assert "An earlier draft is unchanged." in message
    assert len(form.drafts) == 1


def test_a_user_keeps_their_ten_latest_drafts(form: PageForm) -> None:
    for number in range(12):
        form.save(form.new(name=f"Draft {number}"))
    assert len(form.drafts) == 10
    assert "Draft 11" in form.open().text
    assert "Draft 1 " not in form.text


def test_an_old_draft_is_deleted(form: PageForm) -> None:
    form.save(form.new(name="Old"))
    PageDraft.objects.update(saved_at=timezone.now() - timedelta(days=91))
    assert form.drafts == []
    DELETE_OLD_DRAFTS.run("worker", Event())
    assert not PageDraft.objects.exists()


@pytest.fixture
def lost_form(form: PageForm) -> PageForm:
    """A form that was sent without a response."""
    form.service.fails(httpx.ReadTimeout)
    return form.post(form.whole())


def test_a_draft_of_a_possible_page_needs_a_check(lost_form: PageForm) -> None:
    assert "Outcome unknown: the page may already exist" in lost_form.open_draft().text
    assert lost_form.fields["after"] == Operation.objects.get().operation_key
    assert lost_form.post(WHOLE | lost_form.fields).status == 422
    assert len(lost_form.bodies) == 1


def test_a_required_check_stays_required_after_more_input(lost_form: PageForm) -> None:
    lost_form.save(WHOLE | lost_form.fields)
    assert "the page may already exist" in lost_form.open_draft().text


def test_a_draft_whose_page_was_found_is_not_offered(lost_form: PageForm) -> None:
    Operation.objects.update(outcome=Outcome.ACCEPTED)
    assert lost_form.drafts == []


def test_a_draft_that_was_sent_is_not_offered_after_a_prune(lost_form: PageForm) -> None:
    long_ago = timezone.now() - timedelta(days=40)
    Operation.objects.update(outcome=Outcome.ACCEPTED, settled_at=long_ago)
    lost_form.save(lost_form.new(name="Not sent"))
    call_command("prune", "--older-than", "30")
    assert not Operation.objects.exists()
    assert "Not sent" in lost_form.open_draft().html


def test_the_same_draft_in_two_tabs_is_created_once(form: PageForm) -> None:
    form.save(form.whole())
    [link] = form.drafts
    tabs = [form.new(link) for _ in range(2)]
    for tab in tabs:
        form.post(tab | WHOLE)
    assert len(form.bodies) == 1


def test_a_save_makes_no_call_and_few_queries(
    form: PageForm, django_assert_max_num_queries: Any
) -> None:
    fields = form.whole()
    with django_assert_max_num_queries(10):
        form.save(fields)
    assert form.service.sent == []
