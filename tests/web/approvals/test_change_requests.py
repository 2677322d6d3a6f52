"""A webhook change and a new page: requested in their forms, and sent once approved."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.page_drafts.models import PageDraft
from tests.conftest import logged_in, person
from tests.support.approval_page import ApprovalPage
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.page_form import PageForm
from tests.support.seeding import seed_rule
from tests.support.webhook_form import WebhookForm, WebhookSwitch
from tests.support.webhook_service import WebhookService, accepts, away, cut, shows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rule")]
NEW_URL = "https://hooks.example/v2"


@pytest.fixture
def webhook(as_administrator: Client, webhooks: WebhookService) -> WebhookForm:
    """The form of the subscription, in Ada's browser."""
    return WebhookForm(as_administrator, webhooks)


@pytest.fixture
def switch(as_administrator: Client, webhooks: WebhookService) -> WebhookSwitch:
    """The switch of the subscription, in Ada's browser."""
    return WebhookSwitch(as_administrator, webhooks)


@pytest.fixture
def webhook_request(webhook: WebhookForm) -> ApprovalPage:
    """Ada's request to change the URL, in another administrator's browser."""
    webhook.save(url=NEW_URL)
    return ApprovalPage(logged_in(person("alan", "Administrators")), ApprovalRequest.objects.get())


def test_a_webhook_form_requests_an_approval_and_sends_nothing(webhook: WebhookForm) -> None:
    response = webhook.save(url=NEW_URL, note="The CRM moves")
    approval = ApprovalRequest.objects.get()
    assert response.redirect_chain == [(f"/approvals/{approval.pk}/", 302)]
    page = response_text(response)
    assert "Change webhook CRM" in page
    assert "The CRM moves" in page
    assert f'"url": "{NEW_URL}"' in page
    assert webhook.changes == []


def test_saving_again_leads_to_the_same_request(webhook: WebhookForm) -> None:
    first, second = (webhook.save(url=NEW_URL).redirect_chain for _ in range(2))
    assert first == second


def test_an_approved_change_is_sent(
    webhook_request: ApprovalPage, webhooks: WebhookService
) -> None:
    assert "nothing has changed since the request" in webhook_request.open().text
    assert "Approved and sent: Change webhook CRM." in webhook_request.decide("approve").text
    assert webhooks.held["url"] == NEW_URL
    assert Operation.objects.get().actor_name == "ada"


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ({"url": "https://hooks.example/other"}, "https://hooks.example/other"),
        ({"active": False}, "active true false Changed"),
        ({"events": ["page.version.created"]}, "page.version.created"),
    ],
)
def test_a_webhook_that_changed_since_voids_the_approval(
    webhook_request: ApprovalPage, webhooks: WebhookService, changed: dict[str, Any], value: str
) -> None:
    webhooks.held |= changed
    assert value in webhook_request.open().text
    sentence = "The webhook changed after the request. Nothing was sent."
    assert sentence in webhook_request.decide("approve").text
    assert (webhook_request.state, webhooks.changes) == (RequestState.VOID, [])
    [difference] = ApprovalRequest.objects.get().differences
    assert [difference["what"]] == list(changed)
    assert difference["then"] != difference["now"]


def test_an_approval_during_an_outage_is_sent_later(
    webhook_request: ApprovalPage, webhooks: WebhookService
) -> None:
    webhooks.reading = away
    assert "Approved, but not sent yet" in webhook_request.decide("approve").text
    assert "Send now" in webhook_request.text
    assert (webhook_request.state, webhooks.changes) == (RequestState.APPROVED, [])
    webhooks.reading = shows
    for _ in range(2):
        webhook_request.decide("send")
    assert webhooks.changes == [{"url": NEW_URL}]


def test_an_unanswered_approved_change_is_sent_again(
    webhook_request: ApprovalPage, webhooks: WebhookService, as_administrator: Client
) -> None:
    webhooks.way = cut(carried_out=False)
    webhook_request.decide("approve")
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    webhooks.way = accepts
    as_administrator.post(reverse("operation-send-again", args=[operation.operation_key]))
    operation.refresh_from_db()
    assert (operation.outcome, webhooks.held["url"]) == (Outcome.ACCEPTED, NEW_URL)


def test_what_a_deleted_user_requested_is_not_sent(
    webhook_request: ApprovalPage, webhooks: WebhookService, ada: User
) -> None:
    webhooks.reading = away
    webhook_request.decide("approve")
    ada.delete()
    webhooks.reading = shows
    assert "The account of ada no longer exists." in webhook_request.decide("send").text
    assert webhooks.changes == []


@pytest.mark.parametrize("active", ["on", "off"])
def test_a_switch_is_confirmed_and_requested(switch: WebhookSwitch, active: str) -> None:
    fields = {"active": active, "operation_key": str(uuid4())}
    confirmation = response_text(switch.post(fields))
    assert f"Turn {active} CRM?" in confirmation
    assert "Request approval" in confirmation
    location = switch.post(fields | {"confirmed": "1", "note": "Maintenance"})["Location"]
    approval = ApprovalRequest.objects.get()
    assert location == f"/approvals/{approval.pk}/"
    assert approval.subject["body"] == {"active": active == "on"}
    assert switch.changes == []


def test_with_htmx_a_switch_goes_to_the_request(switch: WebhookSwitch) -> None:
    goes_to = switch.press("off")["HX-Redirect"]
    assert goes_to == f"/approvals/{ApprovalRequest.objects.get().pk}/"


def test_an_overlong_note_is_refused_and_kept(webhook: WebhookForm) -> None:
    response = webhook.save(url=NEW_URL, note="x" * 2001)
    assert response.status_code == 422
    assert "The note has 2,001 characters." in response_text(response)
    assert "x" * 2001 in response.text
    assert not ApprovalRequest.objects.exists()


def test_a_rule_without_webhooks_leaves_them_as_they_are(webhook: WebhookForm) -> None:
    seed_rule(covers_publishing=True)
    webhook.save(url=NEW_URL)
    assert webhook.service.held["url"] == NEW_URL


# Pages


@pytest.fixture
def form(as_publisher: Client, fake_service: FakeService) -> PageForm:
    """The form of a new page, in Paula's browser."""
    form = PageForm(as_publisher, fake_service)
    form.creates()
    return form


@pytest.fixture
def page_request(form: PageForm, as_peter: Client) -> ApprovalPage:
    """Paula's request for a new page, in Peter's browser."""
    form.post(form.whole(note="For May"))
    return ApprovalPage(as_peter, ApprovalRequest.objects.get())


def test_a_new_page_is_requested_and_created_once_approved(
    form: PageForm, page_request: ApprovalPage
) -> None:
    assert form.location == page_request.url()
    assert "Create and add another" not in form.open().text
    assert "Note from paula For May" in page_request.open().text
    assert form.bodies == []
    assert not PageDraft.objects.exists()
    page_request.decide("approve")
    page_request.decide("send")
    operation = page_request.approval.operations.get()
    assert (operation.outcome, operation.actor_name) == (Outcome.ACCEPTED, "paula")
    assert [body["name"] for body in form.bodies] == ["Spring outbound"]


def test_a_repeated_form_leads_to_request_then_page(form: PageForm, as_peter: Client) -> None:
    fields = form.whole()
    first, second = (form.post(fields).location for _ in range(2))
    approval = ApprovalPage(as_peter, ApprovalRequest.objects.get())
    assert first == second == approval.url()
    approval.decide("approve")
    page_id = approval.approval.operations.get().page_id
    assert form.post(fields).location == reverse("page-detail", args=[page_id])
    assert form.post(fields | {"name": "Autumn outbound"}).status == 409
    assert len(form.bodies) == 1


def test_an_administrator_may_not_approve_a_page(
    page_request: ApprovalPage, as_administrator: Client
) -> None:
    page = ApprovalPage(as_administrator, page_request.approval)
    assert "may not approve this" in page.open().text
    assert page.decide("approve").status == 403
    assert page.state == RequestState.OPEN


def test_a_form_from_before_the_rule_asks_too(form: PageForm) -> None:
    ApprovalRule.objects.all().delete()
    fields = form.whole()
    seed_rule(covers_pages=True)
    form.post(fields)
    assert ApprovalRequest.objects.count() == 1
    assert form.bodies == []


def test_an_overlong_page_note_is_refused_with_the_form(form: PageForm) -> None:
    assert form.post(form.whole(note="x" * 2001)).status == 422
    assert "The note has 2,001 characters." in form.text
    assert "Spring outbound" in form.html


def test_a_page_that_the_service_rejects_says_so(
    form: PageForm, page_request: ApprovalPage
) -> None:
    form.service.answers(422, json={"detail": "Unknown brand"})
    assert "Approved. Failed: Create page" in page_request.decide("approve").text
