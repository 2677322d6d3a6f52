"""A publish with an unknown outcome is retried in Activity under its original approval."""

from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release
from tests.conftest import logged_in, person
from tests.support.approval_page import ApprovalPage
from tests.support.clock import Clock
from tests.support.html import response_text
from tests.support.release_page import ReleasePage
from tests.support.release_service import PublishingAudiences, accepts, fails, work
from tests.web.approvals.conftest import Ask, new_rule
from tests.web.releases.conftest import hidden

pytestmark = pytest.mark.django_db


@pytest.fixture
def unknown(ask: Ask, service: PublishingAudiences, as_peter: Client, clock: Clock) -> Operation:
    """A publish that was approved and sent, but got no response."""
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    approval = ask(1)
    ApprovalPage(as_peter, approval).decide("approve")
    work(approval.releases.get(), clock)
    service.way = accepts
    return Operation.objects.get(outcome=Outcome.UNKNOWN)


def retry(client: Client, operation: Operation) -> Any:
    return client.post(retry_url(operation), follow=True)


def retry_url(operation: Operation) -> str:
    return f"/activity/{operation.operation_key}/send-again/"


def test_what_is_as_approved_is_sent_again(
    unknown: Operation, service: PublishingAudiences, as_publisher: Client
) -> None:
    retry(as_publisher, unknown)
    unknown.refresh_from_db()
    assert unknown.outcome == Outcome.ACCEPTED
    assert len({key for _, key in service.sent}) == 1


def test_a_changed_text_is_not_resent_and_stays_unknown(
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


@pytest.mark.matrix
@pytest.mark.parametrize("change", ["nothing", "text", "live version", "page status"])
@pytest.mark.parametrize("in_release", [True, False])
def test_an_emergency_covers_what_was_sent_and_nothing_else(
    release: Release,
    service: PublishingAudiences,
    as_publisher: Client,
    clock: Clock,
    *,
    change: str,
    in_release: bool,
) -> None:
    chief = logged_in(person("chief", "Administrators", "Publishers"))
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    reason = {"emergency": "on", "emergency_reason": "Wrong price"}
    if in_release:
        ReleasePage(chief, release).decide("publish", **reason)
        work(release, clock, minutes=0.1)
    else:
        item = release.items.all()[0]
        address = f"/pages/{item.page_id}/audiences/{item.audience_id}/versions/{item.version_id}"
        html = chief.get(f"{address}/publish/").text
        fields = {name: hidden(html, name) for name in ("shown", "operation_key")}
        chief.post(f"{address}/publish/", fields | reason)
    operation = Operation.objects.filter(outcome=Outcome.UNKNOWN).earliest("pk")
    key = (operation.page_id, operation.audience_id)
    version = service.audiences[key]["latestVersion"]
    match change:
        case "text":
            service.change(key, latestVersion=version | {"supplementaryContext": "Another"})
        case "live version":
            service.change(key, publishedVersion=service.live(key, 0))
        case "page status":
            service.pages["page_1"]["status"] = "draft"
    service.way, sent = accepts, len(service.sent)
    for client in (as_publisher, chief):
        answer = retry(client, operation)
        if "Not sent again" in response_text(answer):
            # The page shows what differs, and the retry still needs an approval.
            digest = hidden(answer.text, "shown")
            number = str(operation.version_number)
            client.post(retry_url(operation), {"shown": digest, "number": number})
    operation.refresh_from_db()
    if change in ("nothing", "page status"):
        assert operation.outcome == Outcome.ACCEPTED
    else:
        assert (operation.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
        assert "differs from what was sent before" in operation.attempts.last().message


def test_retrying_another_text_is_confirmed_first(
    release: Release, service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    new_rule()
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    ReleasePage(as_publisher, release).decide("publish")
    work(release, clock, minutes=0.1)
    operation = Operation.objects.filter(outcome=Outcome.UNKNOWN).earliest("pk")
    key = (operation.page_id, operation.audience_id)
    version = service.audiences[key]["latestVersion"]
    service.change(key, latestVersion=version | {"supplementaryContext": "Another"})
    service.way, sent = accepts, len(service.sent)
    answer = retry(as_publisher, operation)
    assert ("Not sent again" in response_text(answer), len(service.sent)) == (True, sent)
    fields = {"shown": hidden(answer.text, "shown"), "number": "2"}
    as_publisher.post(retry_url(operation), fields)
    operation.refresh_from_db()
    assert operation.outcome == Outcome.ACCEPTED


def test_resending_needs_an_approval_under_a_new_rule(
    release: Release, service: PublishingAudiences, clock: Clock
) -> None:
    new_rule()
    chief = logged_in(person("chief", "Publishers"))
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    ReleasePage(chief, release).decide("publish")
    work(release, clock)
    operation = Operation.objects.filter(outcome=Outcome.UNKNOWN)[0]
    new_rule(covers_publishing=True)
    sent = len(service.sent)
    answer = retry(chief, operation)
    assert "It needs the approval of another person." in response_text(answer)
    operation.refresh_from_db()
    assert (operation.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
