"""Approval can be requested in the publish dialog, and the rule can require it."""

import re

import pytest

from dashboard.approvals.models import ApprovalRequest
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release, ReleaseState
from tests.conftest import logged_in, person
from tests.support.publishing_service import PublishingService
from tests.support.schedule_form import TOMORROW, WITHIN, ScheduleForm
from tests.support.seeding import seed_rule

pytestmark = pytest.mark.django_db
LATER = {"then": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}


@pytest.fixture
def rule(db: None) -> None:
    """Publishing needs an approval."""
    seed_rule(covers_publishing=True)


@pytest.fixture
def chiefs_form(service: PublishingService) -> ScheduleForm:
    """The form in the browser of an administrator who is also a publisher."""
    return ScheduleForm(logged_in(person("chief", "Administrators", "Publishers")), service)


def test_without_a_rule_all_choices_are_open(schedule: ScheduleForm) -> None:
    schedule.open()
    assert schedule.disabled == {"now": False, "schedule": False, "approval": False}
    assert re.search(r"Publish version 2\s*</button>", schedule.html)


@pytest.mark.usefixtures("rule")
def test_under_the_rule_only_a_request_is_possible(schedule: ScheduleForm) -> None:
    schedule.open()
    assert schedule.disabled == {"now": True, "schedule": True, "approval": False}
    page = schedule.text
    assert "Needs the approval of another person." in page
    assert not re.search(r"Publish version 2\s*</button>", schedule.html)
    assert "Expires in 7 days. You can’t approve your own request." in page


def test_a_request_makes_a_release_with_one_item(schedule: ScheduleForm) -> None:
    page = schedule.submit(when="approval", note="Prices")
    release = Release.objects.get()
    assert (release.state, release.due_at) == (ReleaseState.WAITING_FOR_APPROVAL, None)
    assert "Everyone who can approve it is notified" in page
    assert "Note from paula Prices" in page
    assert schedule.service.keys == []
    assert not Operation.objects.exists()


def test_with_htmx_the_browser_goes_to_the_request(schedule: ScheduleForm) -> None:
    response = schedule.send(schedule.fill(when="approval"), headers=WITHIN)
    assert response["HX-Redirect"] == f"/approvals/{ApprovalRequest.objects.get().pk}/"


def test_a_request_can_have_a_time(schedule: ScheduleForm) -> None:
    page = schedule.submit(when="approval", **LATER)
    release = Release.objects.get()
    assert (release.state, release.due_as_typed) == (
        ReleaseState.WAITING_FOR_APPROVAL,
        f"{TOMORROW} 14:00",
    )
    assert "Scheduled for" in page


def test_a_request_for_a_wrong_time_keeps_the_input(schedule: ScheduleForm) -> None:
    schedule.submit(when="approval", **LATER | {"time": "25:00"}, note="Kept")
    assert "Enter a valid time" in schedule.text
    assert re.search(r'value="approval"[^>]* checked', schedule.html)
    assert re.search(r'<option value="schedule" selected', schedule.html)
    assert "Kept" in schedule.html
    assert not Release.objects.exists()


def test_a_second_press_leads_to_the_same_request(schedule: ScheduleForm) -> None:
    sent = schedule.fill(when="approval")
    for _ in range(2):
        schedule.send(sent)
    assert ApprovalRequest.objects.count() == Release.objects.count() == 1


def test_what_waits_for_an_approval_is_not_scheduled_besides(schedule: ScheduleForm) -> None:
    schedule.submit(when="approval")
    page = schedule.submit(when="schedule")
    assert "Version 2 of this audience is already waiting for an approval" in page
    assert "This version needs approval in a release." in page
    assert Release.objects.count() == 1


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize("when", ["now", "schedule"])
def test_a_form_from_before_the_rule_sends_nothing(schedule: ScheduleForm, when: str) -> None:
    page = schedule.submit(when=when)
    assert "It needs the approval of another person. Request it instead." in page
    assert (schedule.service.keys, Operation.objects.count(), Release.objects.count()) == ([], 0, 0)


@pytest.mark.usefixtures("rule")
def test_in_an_emergency_an_administrator_publishes_with_a_reason(
    chiefs_form: ScheduleForm,
) -> None:
    assert "Publish version 2 without approval" in chiefs_form.open().text
    chiefs_form.submit(when="approval", emergency="on", emergency_reason="Wrong price is live")
    operation = Operation.objects.get()
    assert (operation.outcome, operation.emergency_reason) == (
        Outcome.ACCEPTED,
        "Wrong price is live",
    )
    assert len(chiefs_form.service.keys) == 1


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize(
    ("reason", "sentence"),
    [(" ", "Enter why it can’t wait"), ("x" * 2001, "The note has 2,001 characters.")],
)
def test_a_reason_is_required_and_kept(
    chiefs_form: ScheduleForm, reason: str, sentence: str
) -> None:
    chiefs_form.submit(emergency="on", emergency_reason=reason)
    assert sentence in chiefs_form.text
    assert f"\n{reason}</textarea>" in chiefs_form.html
    assert chiefs_form.service.keys == []


@pytest.mark.usefixtures("rule")
def test_a_publisher_has_no_emergency(schedule: ScheduleForm) -> None:
    assert "Publish without approval" not in schedule.open().text
    page = schedule.submit(emergency="on", emergency_reason="Now")
    assert "Only administrators can publish without an approval." in page
    assert schedule.service.keys == []
