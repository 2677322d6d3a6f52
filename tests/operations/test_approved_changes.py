"""A webhook change and a new page that another person must approve first."""

from functools import partial
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User

from dashboard.approvals import changes
from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.approvals.requests import ApprovalError
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.operations import approved_changes
from tests.conftest import person
from tests.support.interleaving import before_transaction, held_at
from tests.support.seeding import seed_rule
from tests.support.webhook_service import WebhookService, shows

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
    return seed_rule(covers_webhooks=True, covers_pages=True)


@pytest.fixture
def alan(db: None) -> User:
    """Alan, another administrator."""
    return person("alan", "Administrators")


def ask(user: User, **differs: Any) -> ApprovalRequest:
    record = SubscriptionRecord.objects.get()
    return changes.request_update(
        record, NEW_URL | differs, operation_key=str(uuid4()), note="Moved", user=user
    )


def approve(approval: ApprovalRequest, user: User) -> Operation | None:
    return approved_changes.approve_change(
        approval, user, note="", displayed_digest=approval.digest
    )


def test_a_second_press_does_not_void_the_first(
    webhooks: WebhookService, ada: User, alan: User
) -> None:
    approval = ask(ada)
    ApprovalRequest.objects.update(state=RequestState.APPROVED, decided_by=alan)
    first, second = (ApprovalRequest.objects.get() for _ in range(2))

    def sent_meanwhile(webhooks: WebhookService, http_request: httpx.Request) -> httpx.Response:
        webhooks.reading = shows
        approved_changes.send_approved(first)
        return shows(webhooks, http_request)

    webhooks.reading = sent_meanwhile
    operation = approved_changes.send_approved(second)
    assert operation
    assert webhooks.changes == [NEW_URL]
    approval.refresh_from_db()
    assert approval.state == RequestState.APPROVED


def test_nothing_is_sent_before(webhooks: WebhookService, ada: User) -> None:
    approval = ask(ada)
    with pytest.raises(ApprovalError, match="needs the approval"):
        approved_changes.send_approved(approval)
    assert webhooks.changes == []


def test_a_declined_change_is_not_sent(webhooks: WebhookService, ada: User, alan: User) -> None:
    approval = ask(ada)
    changes.decline_change(approval, alan, note="Not this one", displayed_digest=approval.digest)
    with pytest.raises(ApprovalError, match="alan declined it"):
        approve(approval, alan)
    assert webhooks.changes == []


def test_a_withdrawn_change_is_not_sent(webhooks: WebhookService, ada: User, alan: User) -> None:
    approval = ask(ada)
    changes.withdraw_change(approval, "ada")
    with pytest.raises(ApprovalError, match="ada withdrew the request"):
        approve(approval, alan)
    assert webhooks.changes == []


def test_a_requester_without_permission_gets_no_approval(paula: User) -> None:
    approval = changes.request_page(PAGE, operation_key=str(uuid4()), note="", user=paula)
    paula.groups.clear()
    with pytest.raises(ApprovalError, match="paula may no longer make this change"):
        approve(ApprovalRequest.objects.get(pk=approval.pk), person("peter", "Publishers"))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_two_presses_at_once_make_one_request(paula: User) -> None:
    press = partial(changes.request_page, PAGE, operation_key="form-1", note="", user=paula)
    with held_at(before_transaction(), press) as first:
        second = press()
    assert first.result() == second
    assert ApprovalRequest.objects.get() == second


def test_an_approved_body_can_not_be_exchanged(
    webhooks: WebhookService, ada: User, alan: User
) -> None:
    approval = ask(ada)
    approval.subject["body"] = {"url": "https://evil.example"}
    approval.save()
    operation = approve(approval, alan)
    assert operation
    assert operation.outcome == Outcome.NOT_SENT
    assert webhooks.changes == []
