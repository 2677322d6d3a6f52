"""What the overview says about approvals, and Activity's mark for publishes without one."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.accounts.preferences import save_preferences
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.ledger.models import Operation
from dashboard.releases import decisions
from dashboard.releases.models import Release
from dashboard.releases.reviewing import board_digest
from tests.conftest import logged_in, person
from tests.support.approval_page import ApprovalPage, approval_url
from tests.support.clock import Clock
from tests.support.csv_files import csv_rows
from tests.support.html import page_text, response_text
from tests.support.release_service import work
from tests.web.approvals.conftest import Ask

pytestmark = pytest.mark.django_db
TITLE = "Publish November prices, 2 versions"


@pytest.fixture
def emergency(release: Release, clock: Clock) -> Release:
    """A release that an administrator published without the required approval."""
    chief = person("chief", "Administrators", "Publishers")
    decisions.publish(release, chief, "", board_digest(release), emergency_reason="Wrong price")
    work(release, clock)
    return release


def test_only_those_who_can_approve_are_asked(
    ask: Ask, as_peter: Client, as_publisher: Client, as_viewer: Client
) -> None:
    ask()
    overview = page_text(as_peter, "/")
    assert "Needs your approval 1" in overview
    assert f"{TITLE} Requested by paula" in overview
    assert "Needs your approval" not in page_text(as_publisher, "/")
    assert "Needs your approval" not in page_text(as_viewer, "/")


def test_who_asks_is_warned_of_approvers_without_an_address(
    ask: Ask, as_publisher: Client, as_peter: Client, peter: User, settings: Any
) -> None:
    settings.EMAIL_IS_ON = True
    page = approval_url(ask())
    assert "Not reachable by e-mail: peter." in page_text(as_publisher, page)
    assert "Not reachable by e-mail" not in page_text(as_peter, page)
    save_preferences(peter, email="peter@kestrel.example")
    assert "Not reachable by e-mail" not in page_text(as_publisher, page)


def test_the_requester_hears_why_it_was_declined(
    ask: Ask, as_publisher: Client, as_peter: Client
) -> None:
    ApprovalPage(as_peter, ask()).decide("decline", "Wrong price")
    assert f"Declined {TITLE} peter: Wrong price" in page_text(as_publisher, "/")


def test_both_people_learn_that_an_approval_is_void(
    ask: Ask, as_publisher: Client, as_peter: Client, as_viewer: Client
) -> None:
    ApprovalPage(as_peter, ask()).decide("approve")
    ApprovalRequest.objects.update(
        state=RequestState.VOID, ended_at=timezone.now(), end_reason="The text changed."
    )
    for client in (as_publisher, as_peter):
        assert f"Approval void {TITLE} The text changed." in page_text(client, "/")
    assert TITLE not in page_text(as_viewer, "/")


def test_what_came_to_nothing_is_forgotten_after_a_week(
    ask: Ask, as_publisher: Client, as_peter: Client
) -> None:
    ApprovalPage(as_peter, ask()).decide("decline", "Wrong price")
    ApprovalRequest.objects.update(decided_at=timezone.now() - timedelta(days=8))
    assert TITLE not in page_text(as_publisher, "/")


def test_the_requester_learns_that_a_request_expired(
    ask: Ask, as_publisher: Client, as_peter: Client
) -> None:
    ask()
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    assert f"Expired {TITLE} No one decided it in time." in page_text(as_publisher, "/")
    assert TITLE not in page_text(as_peter, "/")


def test_approvers_see_an_emergency_on_the_overview(
    emergency: Release, as_peter: Client, as_viewer: Client
) -> None:
    assert Operation.objects.count() == 2
    overview = page_text(as_peter, "/")
    assert overview.count("Without approval November prices chief: Wrong price") == 1
    assert "Wrong price" not in page_text(as_viewer, "/")


def test_activity_marks_what_had_no_approval(emergency: Release, as_viewer: Client) -> None:
    assert "Without approval" in page_text(as_viewer, "/activity/")
    key = Operation.objects.values_list("operation_key", flat=True)[0]
    assert "Without approval Emergency Wrong price" in page_text(as_viewer, f"/activity/{key}/")


def test_activity_names_who_approved(
    ask: Ask, as_peter: Client, as_viewer: Client, clock: Clock
) -> None:
    approval = ask()
    ApprovalPage(as_peter, approval).decide("approve")
    work(approval.releases.get(), clock)
    key = Operation.objects.values_list("operation_key", flat=True)[0]
    assert "Approved by peter" in page_text(as_viewer, f"/activity/{key}/")
    assert "No operations match" in page_text(as_viewer, "/activity/?approval=none")


def test_activity_is_filtered_and_exported_by_approval(
    emergency: Release, as_viewer: Client
) -> None:
    assert "2 operations" in page_text(as_viewer, "/activity/?approval=none")
    rows = csv_rows(as_viewer, "/activity/export.csv?approval=none")
    assert [row["reason without approval"] for row in rows] == ["Wrong price"] * 2


def test_a_person_without_the_right_is_not_asked(ask: Ask) -> None:
    ask()
    former = person("former", "Publishers")
    client = logged_in(former)
    assert "Needs your approval" in page_text(client, "/")
    former.groups.clear()
    former.groups.add(*person("other", "Viewers").groups.all())
    assert "Needs your approval" not in page_text(client, "/")


def test_a_decided_request_is_read_for_all_approvers(
    ask: Ask, as_peter: Client, as_viewer: Client
) -> None:
    other = logged_in(person("olga", "Publishers"))
    approval = ask()
    assert "1 unread" in page_text(other, "/people/")
    ApprovalPage(as_peter, approval).decide("decline", "Wrong price")
    for client in (other, as_peter):
        assert "0 unread" in page_text(client, "/people/")


def test_opening_the_subject_marks_its_notification_read(ask: Ask, as_peter: Client) -> None:
    address = f"/approvals/{ask().pk}/"
    html = as_peter.get(address).text
    assert f'action="{reverse("page-opened")}"' in html
    assert "1 unread" in page_text(as_peter, "/people/")
    response = as_peter.post(reverse("page-opened"), {"path": address})
    assert response_text(response) == "0 unread 0 unread"
    assert reverse("page-opened") not in as_peter.get(address).text


def test_under_the_rule_a_row_offers_a_request(release: Release, as_publisher: Client) -> None:
    item = release.items.all()[0]
    page, audience = (
        f"/pages/{item.page_id}/",
        f"/pages/{item.page_id}/audiences/{item.audience_id}/",
    )
    for address, offered in (
        (page, f"Request approval of version {item.version_number}"),
        (audience, f"Request approval of version {item.version_number}"),
        ("/audiences/", "Request approval of …"),
    ):
        shown_page = page_text(as_publisher, address)
        assert offered in shown_page, address
        assert f"Publish {item.version_number}" not in shown_page, address
        assert "Publish …" not in shown_page, address
