"""A publish with an unknown outcome is retried in Activity under its original approval."""

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release
from tests.conftest import logged_in, person
from tests.support.approval_page import ApprovalPage
from tests.support.clock import Clock
from tests.support.release_page import ReleasePage
from tests.support.release_service import PublishingAudiences, accepts, fails, work
from tests.support.seeding import seed_rule
from tests.support.shown_page import ShownPage
from tests.web.approvals.conftest import Ask

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


def retry(client: Client, operation: Operation, **fields: str) -> ShownPage:
    """Press the button that retries, and follow the redirect."""
    url = f"/activity/{operation.operation_key}/send-again/"
    return ShownPage(client).show(client.post(url, fields, follow=True))


def edit_text(service: PublishingAudiences, operation: Operation) -> None:
    """Change the text of the operation's version at the service."""
    key = (operation.page_id, operation.audience_id)
    version = service.audiences[key]["latestVersion"]
    service.change(key, latestVersion=version | {"supplementaryContext": "Another"})


def lost(page: ReleasePage, service: PublishingAudiences, clock: Clock, **fields: str) -> Operation:
    """Publish a release whose requests get no response; return the first operation."""
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    page.decide("publish", **fields)
    work(page.release, clock, minutes=0.1)
    service.way = accepts
    return Operation.objects.filter(outcome=Outcome.UNKNOWN).earliest("pk")


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
    edit_text(service, unknown)
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
    reason = {"emergency": "on", "emergency_reason": "Wrong price"}
    if in_release:
        operation = lost(ReleasePage(chief, release), service, clock, **reason)
    else:
        item = release.items.all()[0]
        address = f"/pages/{item.page_id}/audiences/{item.audience_id}/versions/{item.version_id}"
        page = ShownPage(chief).show(chief.get(f"{address}/publish/"))
        fields = {name: page.value(name) for name in ("shown", "operation_key")}
        service.way = fails(httpx.ReadTimeout, is_carried_out=False)
        chief.post(f"{address}/publish/", fields | reason)
        operation = Operation.objects.get(outcome=Outcome.UNKNOWN)
    key = (operation.page_id, operation.audience_id)
    match change:
        case "text":
            edit_text(service, operation)
        case "live version":
            service.change(key, publishedVersion=service.live(key, 0))
        case "page status":
            service.pages["page_1"]["status"] = "draft"
    service.way, sent = accepts, len(service.sent)
    for client in (as_publisher, chief):
        page = retry(client, operation)
        if "Not sent again" in page.text:
            # The page shows what differs, and the retry still needs an approval.
            retry(client, operation, shown=page.value("shown"), number="2")
    operation.refresh_from_db()
    if change in ("nothing", "page status"):
        assert operation.outcome == Outcome.ACCEPTED
    else:
        assert (operation.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
        assert "differs from what was sent before" in operation.attempts.last().message


def test_retrying_another_text_is_confirmed_first(
    release: Release, service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    seed_rule()
    operation = lost(ReleasePage(as_publisher, release), service, clock)
    edit_text(service, operation)
    sent = len(service.sent)
    page = retry(as_publisher, operation)
    assert ("Not sent again" in page.text, len(service.sent)) == (True, sent)
    retry(as_publisher, operation, shown=page.value("shown"), number="2")
    operation.refresh_from_db()
    assert operation.outcome == Outcome.ACCEPTED


def test_resending_needs_an_approval_under_a_new_rule(
    release: Release, service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    seed_rule()
    operation = lost(ReleasePage(as_publisher, release), service, clock)
    seed_rule(covers_publishing=True)
    sent = len(service.sent)
    page = retry(as_publisher, operation)
    assert "It needs the approval of another person." in page.text
    operation.refresh_from_db()
    assert (operation.outcome, len(service.sent)) == (Outcome.UNKNOWN, sent)
