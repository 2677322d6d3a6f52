"""The approval rule: off, or on for some kinds of changes."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.approvals.models import ApprovalRule
from dashboard.releases import decisions
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.schedules import parse_moment
from tests.support.html import elements, response_text
from tests.support.release_service import PublishingAudiences
from tests.web.approvals.conftest import checked

pytestmark = pytest.mark.django_db
RULE = "/accounts/settings/approvals/"
ON = {"is_on": "on", "days": "7"}


def save(client: Client, **fields: str) -> Any:
    return client.post(RULE, ON | fields)


@pytest.fixture
def scheduled(service: PublishingAudiences, paula: User) -> Release:
    """Paula's release, scheduled for tomorrow without an approval."""
    release = checked(service, paula, 1)
    due = timezone.now() + timedelta(days=1)
    moment = parse_moment(f"{due:%Y-%m-%d}", "14:00", "UTC", now=timezone.now())
    decisions.schedule(release, paula, moment, "", board_digest(release))
    return release


def test_the_rule_is_off_and_readable_at_first(as_viewer: Client) -> None:
    page = response_text(as_viewer.get(RULE))
    assert "Approval rule Off" in page
    assert "No changes yet." in page
    assert "The rule applies in Pressroom only." in page
    assert "Only administrators can change it." in page


def test_an_administrator_turns_it_on(as_administrator: Client) -> None:
    answer = save(as_administrator, covers_publishing="on", covers_pages="on", days="3")
    rule = ApprovalRule.objects.get()
    covered = (rule.covers_publishing, rule.covers_rollbacks, rule.covers_webhooks)
    assert (*covered, rule.covers_pages) == (True, False, False, True)
    assert (rule.days, rule.changed_by_name) == (3, "ada")
    page = response_text(as_administrator.get(answer.url))
    assert "On: Publishing, New pages. Requests expire after 3 days. ada" in page


def test_the_same_rule_saved_again_is_no_change(as_administrator: Client) -> None:
    for _ in range(2):
        assert save(as_administrator, covers_publishing="on").status_code == 302
    assert ApprovalRule.objects.count() == 1


def test_each_change_stays_on_record(as_administrator: Client) -> None:
    save(as_administrator, covers_publishing="on")
    save(as_administrator, is_on="off")
    assert ApprovalRule.objects.count() == 2
    page = response_text(as_administrator.get(RULE))
    assert "Approval rule Off" in page
    assert "On: Publishing. Requests expire after 7 days." in page


def test_a_rule_that_covers_nothing_is_refused(as_administrator: Client) -> None:
    answer = save(as_administrator)
    assert answer.status_code == 422
    assert "Choose what needs approval, or turn the rule off." in response_text(answer)
    assert not ApprovalRule.objects.exists()


@pytest.mark.parametrize("days", ["", "0", "31", "seven", "1" * 5000])
def test_days_out_of_range_are_refused_beside_the_field(
    as_administrator: Client, days: str
) -> None:
    answer = save(as_administrator, covers_publishing="on", days=days)
    assert answer.status_code == 422
    inputs = [element.attributes for element in elements(answer.text, "input")]
    [field] = [box for box in inputs if box.get("name") == "days"]
    assert (field["aria-invalid"], field["value"]) == ("true", days)
    assert not ApprovalRule.objects.exists()


def test_unapproved_schedules_are_named_then_held(
    scheduled: Release, as_administrator: Client
) -> None:
    first = save(as_administrator, covers_publishing="on")
    assert "Not saved yet." in response_text(first)
    assert "saving holds: November prices" in response_text(first)
    assert not ApprovalRule.objects.exists()
    answer = save(as_administrator, covers_publishing="on", confirmed="on")
    page = response_text(as_administrator.get(answer.url))
    assert "Held, as they were scheduled without an approval: November prices." in page
    scheduled.refresh_from_db()
    assert scheduled.state == ReleaseState.HELD


def test_a_rule_for_webhooks_holds_no_release(scheduled: Release, as_administrator: Client) -> None:
    save(as_administrator, covers_webhooks="on")
    scheduled.refresh_from_db()
    assert scheduled.state == ReleaseState.SCHEDULED
