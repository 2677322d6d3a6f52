"""A webhook's change and a new page: requested from their forms, and sent once approved."""

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_subscription
from dashboard.page_drafts.models import PageDraft
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_text, response_text
from tests.support.page_form import NEW, bodies, creates, filled
from tests.support.webhook_form import fields
from tests.support.webhook_service import WebhookService, accepts, away, cut, shows
from tests.web.approvals.conftest import decide, new_rule, url

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rule")]
WEBHOOK = "/webhooks/whs_1/"
SWITCH = f"{WEBHOOK}active/"
NEW_URL = "https://hooks.example/v2"


@pytest.fixture
def service(fake_service: FakeService) -> WebhookService:
    """A service with one subscription, which is on the list."""
    fake_service.answer = service = WebhookService()
    record_subscription(WebhookSubscription.model_validate(service.held), label="CRM")
    return service


@pytest.fixture
def as_alan(db: None) -> Client:
    """A test client logged in as another administrator."""
    return logged_in(person("alan", "Administrators"))


def hidden(html: str) -> dict[str, str]:
    """Return the hidden fields of a page's forms."""
    inputs = (element.attributes for element in elements(html, "input"))
    return {box["name"]: box["value"] for box in inputs if box.get("type") == "hidden"}


def save(client: Client, note: str = "") -> Any:
    """Type another URL, review the body to send, and press the button."""
    form = fields(client.get(WEBHOOK).text) | {"url": NEW_URL}
    previewed = fields(client.post(WEBHOOK, form).text)
    return client.post(WEBHOOK, previewed | {"note": note})


def test_a_webhook_form_requests_an_approval_and_sends_nothing(
    service: WebhookService, as_administrator: Client
) -> None:
    answer = save(as_administrator, note="The CRM moves")
    approval = ApprovalRequest.objects.get()
    assert answer.url == url(approval)
    page = page_text(as_administrator, answer.url)
    assert "Change webhook CRM" in page
    assert "The CRM moves" in page
    assert f'"url": "{NEW_URL}"' in page
    assert service.changes == []


def test_saving_again_leads_to_the_same_request(
    service: WebhookService, as_administrator: Client
) -> None:
    assert save(as_administrator).url == save(as_administrator).url


def test_an_approved_change_is_sent(
    service: WebhookService, as_administrator: Client, as_alan: Client
) -> None:
    approval = ApprovalRequest.objects.get(pk=_request(as_administrator))
    assert "nothing has changed since the request" in page_text(as_alan, url(approval))
    answer = decide(as_alan, approval, "approve")
    assert "Approved and sent: Change webhook CRM." in page_text(as_alan, answer.url)
    assert service.held["url"] == NEW_URL
    assert Operation.objects.get().actor_name == "ada"


def test_a_webhook_that_changed_since_is_not_sent(
    service: WebhookService, as_administrator: Client, as_alan: Client
) -> None:
    approval = ApprovalRequest.objects.get(pk=_request(as_administrator))
    service.held["active"] = False
    assert "active true false Changed" in page_text(as_alan, url(approval))
    answer = decide(as_alan, approval, "approve")
    assert "The webhook changed after the request. Nothing was sent." in page_text(
        as_alan, answer.url
    )
    assert service.changes == []


def test_an_approval_during_an_outage_is_sent_later(
    service: WebhookService, as_administrator: Client, as_alan: Client
) -> None:
    approval = ApprovalRequest.objects.get(pk=_request(as_administrator))
    service.reading = away
    answer = decide(as_alan, approval, "approve")
    page = page_text(as_alan, answer.url)
    assert "Approved, but not sent yet" in page
    assert "Send now" in page
    service.reading = WebhookService().reading
    decide(as_alan, approval, "send")
    assert service.held["url"] == NEW_URL


def test_an_unanswered_approved_change_is_sent_again(
    service: WebhookService, as_administrator: Client, as_alan: Client
) -> None:
    approval = ApprovalRequest.objects.get(pk=_request(as_administrator))
    service.way = cut(carried_out=False)
    decide(as_alan, approval, "approve")
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    service.way = accepts
    as_administrator.post(reverse("operation-send-again", args=[operation.operation_key]))
    operation.refresh_from_db()
    assert (operation.outcome, service.held["url"]) == (Outcome.ACCEPTED, NEW_URL)


def test_what_a_deleted_user_requested_is_not_sent(
    service: WebhookService, ada: User, as_administrator: Client, as_alan: Client
) -> None:
    approval = ApprovalRequest.objects.get(pk=_request(as_administrator))
    service.reading = away
    decide(as_alan, approval, "approve")
    ada.delete()
    service.reading = shows
    page = page_text(as_alan, decide(as_alan, approval, "send").url)
    assert "The account of ada no longer exists." in page
    assert service.changes == []


@pytest.mark.parametrize("active", ["on", "off"])
def test_a_switch_is_confirmed_and_requested(
    service: WebhookService, as_administrator: Client, active: str
) -> None:
    key = {"operation_key": "6d5c1d05-3f5a-4b0f-8a6b-0f2a7f3d9c11", "active": active}
    confirmation = as_administrator.post(SWITCH, key)
    assert f"Turn {active} CRM?" in response_text(confirmation)
    assert "Request approval" in response_text(confirmation)
    answer = as_administrator.post(SWITCH, key | {"confirmed": "1", "note": "Maintenance"})
    approval = ApprovalRequest.objects.get()
    assert answer.url == url(approval)
    assert approval.subject["body"] == {"active": active == "on"}
    assert service.changes == []


def test_with_htmx_a_switch_goes_to_the_request(
    service: WebhookService, as_administrator: Client
) -> None:
    fields = {"operation_key": "6d5c1d05-3f5a-4b0f-8a6b-0f2a7f3d9c11", "active": "off"}
    answer = as_administrator.post(
        SWITCH, fields | {"confirmed": "1"}, headers={"HX-Request": "true"}
    )
    assert answer["HX-Redirect"] == url(ApprovalRequest.objects.get())


def test_an_overlong_note_is_refused_and_kept(
    service: WebhookService, as_administrator: Client
) -> None:
    answer = save(as_administrator, note="x" * 2001)
    assert answer.status_code == 422
    assert "The note has 2,001 characters." in response_text(answer)
    assert "x" * 2001 in answer.text
    assert not ApprovalRequest.objects.exists()


def test_a_rule_without_webhooks_leaves_them_as_they_are(
    service: WebhookService, as_administrator: Client
) -> None:
    new_rule(covers_publishing=True)
    save(as_administrator)
    assert service.held["url"] == NEW_URL


# Pages


def request_page(client: Client, **differs: str) -> Any:
    """Fill in and submit the form of a new page."""
    html = client.get(NEW).text
    return client.post(NEW, hidden(html) | filled(**differs))


def test_a_new_page_is_requested_and_created_once_approved(
    fake_service: FakeService, as_publisher: Client, as_peter: Client
) -> None:
    creates(fake_service)
    assert "Create and add another" not in page_text(as_publisher, NEW)
    answer = request_page(as_publisher, note="For May")
    approval = ApprovalRequest.objects.get()
    assert answer.url == url(approval)
    assert "Note from paula For May" in page_text(as_peter, answer.url)
    assert bodies(fake_service) == []
    assert not PageDraft.objects.exists()
    decide(as_peter, approval, "approve")
    assert approval.operations.get().outcome == Outcome.ACCEPTED
    assert [body["name"] for body in bodies(fake_service)] == ["Spring outbound"]


def test_a_repeated_form_leads_to_request_then_page(
    fake_service: FakeService, as_publisher: Client, as_peter: Client
) -> None:
    creates(fake_service)
    form = hidden(as_publisher.get(NEW).text) | filled()
    first, second = (as_publisher.post(NEW, form).url for _ in range(2))
    approval = ApprovalRequest.objects.get()
    assert first == second == url(approval)
    decide(as_peter, approval, "approve")
    again = as_publisher.post(NEW, form)
    assert again.url == reverse("page-detail", args=[approval.operations.get().page_id])
    changed = as_publisher.post(NEW, form | {"name": "Autumn outbound"})
    assert changed.status_code == 409
    assert len(bodies(fake_service)) == 1


def test_an_administrator_may_not_approve_a_page(
    fake_service: FakeService, as_publisher: Client, as_administrator: Client
) -> None:
    request_page(as_publisher)
    approval = ApprovalRequest.objects.get()
    assert "may not approve this" in page_text(as_administrator, url(approval))
    assert decide(as_administrator, approval, "approve").status_code == 403
    approval.refresh_from_db()
    assert approval.state == RequestState.OPEN


def test_a_form_from_before_the_rule_asks_too(
    fake_service: FakeService, as_publisher: Client
) -> None:
    ApprovalRule.objects.all().delete()
    html = as_publisher.get(NEW).text
    new_rule(covers_pages=True)
    as_publisher.post(NEW, hidden(html) | filled())
    assert ApprovalRequest.objects.count() == 1
    assert bodies(fake_service) == []


def test_an_overlong_page_note_is_refused_with_the_form(
    fake_service: FakeService, as_publisher: Client
) -> None:
    answer = request_page(as_publisher, note="x" * 2001)
    assert answer.status_code == 422
    assert "The note has 2,001 characters." in response_text(answer)
    assert "Spring outbound" in answer.text


def test_a_page_that_the_service_rejects_says_so(
    fake_service: FakeService, as_publisher: Client, as_peter: Client
) -> None:
    request_page(as_publisher)
    fake_service.answer = lambda request: httpx.Response(422, json={"detail": "Unknown brand"})
    answer = decide(as_peter, ApprovalRequest.objects.get(), "approve")
    assert "Approved. Failed: Create page" in page_text(as_peter, answer.url)


def _request(client: Client) -> int:
    return int(save(client).url.split("/")[2])
