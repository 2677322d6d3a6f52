"""A webhook's change and a new page that another person approves first."""

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from dashboard.client import APIError
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import ApprovalRequest, ApprovalRule, Operation, SubscriptionRecord
from dashboard.ledger.models.approvals import RequestState
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_subscription
from dashboard.operations import approved_changes
from dashboard.operations.approval_requests import ApprovalError
from tests.conftest import person
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.webhook_service import WebhookService, away, shows

NEW_URL = {"url": "https://hooks.example/v2"}
PAGE = {
    "name": "Spring",
    "brandId": "brand_1",
    "pageContext": "For carriers.",
    "actions": [],
    "actionCardWidgets": [],
    "scripts": [],
}


@pytest.fixture(autouse=True)
def rule(db: None) -> ApprovalRule:
    """Webhooks and pages need an approval."""
    return ApprovalRule.objects.create(
        covers_webhooks=True,
        covers_pages=True,
        changed_at="2026-11-01T10:00Z",
        changed_by_name="ada",
    )


@pytest.fixture
def service(fake_service: FakeService) -> WebhookService:
    """A service with one subscription, which is on the list."""
    fake_service.answer = service = WebhookService()
    record_subscription(WebhookSubscription.model_validate(service.held), label="CRM")
    return service


@pytest.fixture
def alan(db: None) -> User:
    """Alan, another administrator."""
    return person("alan", "Administrators")


def ask(user: User, **differs: Any) -> ApprovalRequest:
    record = SubscriptionRecord.objects.get()
    return approved_changes.request_update(record, NEW_URL | differs, note="Moved", user=user)


def approve(request: ApprovalRequest, user: User) -> Operation | None:
    return approved_changes.approve_change(request, user, note="", shown=request.digest)


def test_an_approved_change_is_sent_in_the_name_of_who_asked(
    service: WebhookService, ada: User, alan: User
) -> None:
    operation = approve(ask(ada), alan)
    assert operation
    assert (operation.actor_name, operation.outcome) == ("ada", Outcome.ACCEPTED)
    assert service.changes == [NEW_URL]


def test_a_second_press_does_not_void_what_the_first_has_sent(
    service: WebhookService, ada: User, alan: User
) -> None:
    request = ask(ada)
    ApprovalRequest.objects.update(state=RequestState.APPROVED, decided_by=alan)
    first, second = (ApprovalRequest.objects.get() for _ in range(2))

    def sent_meanwhile(service: WebhookService, http_request: httpx.Request) -> httpx.Response:
        service.reading = shows
        approved_changes.send_approved(first)
        return shows(service, http_request)

    service.reading = sent_meanwhile
    operation = approved_changes.send_approved(second)
    assert operation
    assert service.changes == [NEW_URL]
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED


def test_nothing_is_sent_before(service: WebhookService, ada: User) -> None:
    request = ask(ada)
    with pytest.raises(ApprovalError, match="needs the approval"):
        approved_changes.send_approved(request)
    assert service.changes == []


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"url": "https://hooks.example/other"}, "url"),
        ({"active": False}, "active"),
        ({"events": ["page.version.created"]}, "events"),
    ],
)
def test_a_webhook_that_changed_since_voids_the_approval(
    service: WebhookService, ada: User, alan: User, changed: dict[str, Any], name: str
) -> None:
    request = ask(ada)
    service.held |= changed
    assert approve(request, alan) is None
    request.refresh_from_db()
    assert (request.state, service.changes) == (RequestState.VOID, [])
    [difference] = request.differences
    assert difference["what"] == name
    assert difference["then"] != difference["now"]


def test_a_declined_change_is_not_sent(service: WebhookService, ada: User, alan: User) -> None:
    request = ask(ada)
    approved_changes.decline_change(request, alan, note="Not this one", shown=request.digest)
    with pytest.raises(ApprovalError, match="alan declined it"):
        approve(request, alan)
    assert service.changes == []


def test_a_withdrawn_change_is_not_sent(service: WebhookService, ada: User, alan: User) -> None:
    request = ask(ada)
    approved_changes.withdraw_change(request, "ada")
    with pytest.raises(ApprovalError, match="ada withdrew the request"):
        approve(request, alan)
    assert service.changes == []


def test_what_can_not_be_read_is_approved_and_sent_later_once(
    service: WebhookService, ada: User, alan: User
) -> None:
    request = ask(ada)
    service.reading = away
    with pytest.raises(APIError):
        approve(request, alan)
    assert (request.state, service.changes) == (RequestState.APPROVED, [])
    service.reading = WebhookService().reading
    first, second = (approved_changes.send_approved(request) for _ in range(2))
    assert first == second
    assert service.changes == [NEW_URL]


def test_an_administrator_does_not_approve_a_page(ada: User, paula: User) -> None:
    request = approved_changes.request_page(PAGE, note="", user=paula)
    with pytest.raises(ApprovalError, match="ada may not approve this"):
        approve(request, ada)


def test_who_lost_the_permission_since_the_request_gets_no_approval(paula: User) -> None:
    request = approved_changes.request_page(PAGE, note="", user=paula)
    paula.groups.clear()
    with pytest.raises(ApprovalError, match="paula may no longer make this change"):
        approve(ApprovalRequest.objects.get(pk=request.pk), person("peter", "Publishers"))


def test_an_approved_page_is_created_once(fake_service: FakeService, paula: User) -> None:
    fake_service.answer = lambda request: httpx.Response(200, json=wire.page(pageId="page_new"))
    request = approved_changes.request_page(PAGE, note="", user=paula)
    peter = person("peter", "Publishers")
    operation = approve(request, peter)
    assert operation
    assert (operation.page_id, operation.actor) == ("page_new", paula)
    assert approved_changes.send_approved(request) == operation
    assert len(fake_service.sent) == 1


def test_an_approved_body_can_not_be_exchanged(
    service: WebhookService, ada: User, alan: User
) -> None:
    request = ask(ada)
    request.subject["body"] = {"url": "https://evil.example"}
    request.save()
    operation = approve(request, alan)
    assert operation
    assert operation.outcome == Outcome.NOT_SENT
    assert service.changes == []
