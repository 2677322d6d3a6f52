"""A publish of unknown outcome is retried in Activity by the approval that it was sent by."""

from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release
from tests.conftest import logged_in, person
from tests.support.clock import Clock
from tests.support.release_service import PublishingAudiences, accepts, fails, work
from tests.web.approvals.conftest import Ask, decide, new_rule, said
from tests.web.releases.conftest import decide as decide_on_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def unknown(ask: Ask, service: PublishingAudiences, as_peter: Client, clock: Clock) -> Operation:
    """A publish that was approved and sent, and of which no response arrived."""
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    approval = ask(1)
    decide(as_peter, approval, "approve")
    work(approval.releases.get(), clock)
    service.way = accepts
    return Operation.objects.get(outcome=Outcome.UNKNOWN)


def retry(client: Client, operation: Operation) -> Any:
    return client.post(f"/activity/{operation.operation_key}/send-again/", follow=True)


def test_what_is_as_approved_is_sent_again(
    unknown: Operation, service: PublishingAudiences, as_publisher: Client
) -> None:
    retry(as_publisher, unknown)
    unknown.refresh_from_db()
    assert unknown.outcome == Outcome.ACCEPTED
    assert len({key for _, key in service.sent}) == 1


def test_what_has_changed_is_not_sent_again_and_stays_unknown(
    unknown: Operation, service: PublishingAudiences, as_publisher: Client
) -> None:
    key = (unknown.page_id, unknown.audience_id)
    version = service.audiences[key]["latestVersion"]
    service.change(key, latestVersion=version | {"supplementaryContext": "Another"})
    sent = len(service.sent)
    retry(as_publisher, unknown)
    unknown.refresh_from_db()
    assert (unknown.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
    assert (
        unknown.attempts.last().message
        == "It differs from what was approved. It needs another approval."
    )


def test_what_was_sent_before_the_rule_needs_an_approval_to_be_sent_again(
    release: Release, service: PublishingAudiences, clock: Clock
) -> None:
    new_rule()
    chief = logged_in(person("chief", "Publishers"))
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    decide_on_release(chief, release, "publish")
    work(release, clock)
    operation = Operation.objects.filter(outcome=Outcome.UNKNOWN)[0]
    new_rule(covers_publishing=True)
    sent = len(service.sent)
    answer = retry(chief, operation)
    assert "It needs the approval of another person." in said(answer)
    operation.refresh_from_db()
    assert (operation.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
