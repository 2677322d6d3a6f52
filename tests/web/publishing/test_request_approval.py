"""From the publish dialog, another person can be asked to approve; the rule can require it."""

import re

import pytest
from django.test import Client

from dashboard.approvals.models import ApprovalRequest
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release, ReleaseState
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.publishing_service import PublishingService
from tests.support.schedule_form import ADDRESS, DIALOG, TOMORROW, form, send
from tests.web.approvals.conftest import new_rule

pytestmark = pytest.mark.django_db
LATER = {"then": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}


@pytest.fixture(autouse=True)
def service(fake_service: FakeService) -> PublishingService:
    fake_service.answer = service = PublishingService()
    return service


@pytest.fixture
def rule(db: None) -> None:
    """Publishing needs an approval."""
    new_rule(covers_publishing=True)


@pytest.fixture
def as_chief(db: None) -> Client:
    """A test client logged in as an administrator who may publish."""
    return logged_in(person("chief", "Administrators", "Publishers"))


def submit(client: Client, **changes: str) -> str:
    html: str = send(client, form(client, **changes), follow=True).text
    return html


def disabled(html: str) -> dict[str, bool]:
    """Return whether each choice of when to publish is disabled."""
    radios = (element.attributes for element in elements(html, "input"))
    return {radio["value"]: "disabled" in radio for radio in radios if radio.get("name") == "when"}


def test_without_a_rule_all_choices_are_open(as_publisher: Client) -> None:
    html = as_publisher.get(ADDRESS).text
    assert disabled(html) == {"now": False, "schedule": False, "approval": False}
    assert re.search(r"Publish version 2\s*</button>", html)


@pytest.mark.usefixtures("rule")
def test_under_the_rule_only_a_request_is_possible(as_publisher: Client) -> None:
    html = as_publisher.get(ADDRESS).text
    assert disabled(html) == {"now": True, "schedule": True, "approval": False}
    page = text(html)
    assert "Needs the approval of another person." in page
    assert not re.search(r"Publish version 2\s*</button>", html)
    assert "Expires in 7 days. You can’t approve your own request." in page


def test_a_request_makes_a_release_of_one(as_publisher: Client, service: PublishingService) -> None:
    page = text(submit(as_publisher, when="approval", note="Prices"))
    release = Release.objects.get()
    assert (release.state, release.due_at) == (ReleaseState.WAITING_FOR_APPROVAL, None)
    assert "Everyone who can approve it is notified" in page
    assert "Note from paula Prices" in page
    assert service.keys == []
    assert not Operation.objects.exists()


def test_with_htmx_the_browser_goes_to_the_request(as_publisher: Client) -> None:
    response = send(as_publisher, form(as_publisher, when="approval"), headers=DIALOG)
    assert response["HX-Redirect"] == f"/approvals/{ApprovalRequest.objects.get().pk}/"


def test_a_request_can_have_a_time(as_publisher: Client) -> None:
    page = text(submit(as_publisher, when="approval", **LATER))
    release = Release.objects.get()
    assert (release.state, release.due_as_typed) == (
        ReleaseState.WAITING_FOR_APPROVAL,
        f"{TOMORROW} 14:00",
    )
    assert "Scheduled for" in page


def test_a_request_for_a_wrong_time_keeps_the_input(as_publisher: Client) -> None:
    html = submit(as_publisher, when="approval", **LATER | {"time": "25:00"}, note="Kept")
    assert "Enter a valid time" in text(html)
    assert re.search(r'value="approval"[^>]* checked', html)
    assert re.search(r'<option value="schedule" selected', html)
    assert "Kept" in html
    assert not Release.objects.exists()


def test_a_second_press_leads_to_the_same_request(as_publisher: Client) -> None:
    sent = form(as_publisher, when="approval")
    for _ in range(2):
        send(as_publisher, sent)
    assert ApprovalRequest.objects.count() == Release.objects.count() == 1


def test_what_waits_for_an_approval_is_not_scheduled_besides(as_publisher: Client) -> None:
    submit(as_publisher, when="approval")
    page = text(submit(as_publisher, when="schedule"))
    assert "Version 2 of this audience is already waiting for an approval" in page
    assert "This version needs approval in a release." in page
    assert Release.objects.count() == 1


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize("when", ["now", "schedule"])
def test_a_form_from_before_the_rule_sends_nothing(
    as_publisher: Client, service: PublishingService, when: str
) -> None:
    page = text(submit(as_publisher, when=when))
    assert "It needs the approval of another person. Request it instead." in page
    assert (service.keys, Operation.objects.count(), Release.objects.count()) == ([], 0, 0)


@pytest.mark.usefixtures("rule")
def test_in_an_emergency_an_administrator_publishes_with_a_reason(
    as_chief: Client, service: PublishingService
) -> None:
    assert "Publish version 2 without approval" in response_text(as_chief.get(ADDRESS))
    submit(as_chief, when="approval", emergency="on", emergency_reason="Wrong price is live")
    operation = Operation.objects.get()
    assert (operation.outcome, operation.emergency_reason) == (
        Outcome.ACCEPTED,
        "Wrong price is live",
    )
    assert len(service.keys) == 1


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize(
    ("reason", "sentence"),
    [(" ", "Enter why it can’t wait"), ("x" * 2001, "The note has 2,001 characters.")],
)
def test_a_reason_is_required_and_kept(
    as_chief: Client, service: PublishingService, reason: str, sentence: str
) -> None:
    html = submit(as_chief, emergency="on", emergency_reason=reason)
    assert sentence in text(html)
    assert f"\n{reason}</textarea>" in html
    assert service.keys == []


@pytest.mark.usefixtures("rule")
def test_a_publisher_has_no_emergency(as_publisher: Client, service: PublishingService) -> None:
    assert "Publish without approval" not in response_text(as_publisher.get(ADDRESS))
    page = text(submit(as_publisher, emergency="on", emergency_reason="Now"))
    assert "Only administrators can publish without an approval." in page
    assert service.keys == []
