"""The list of approval requests, and the count in the sidebar."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.approvals.models import ApprovalRequest, RequestState
from tests.support.approval_page import ApprovalPage
from tests.support.html import page_text
from tests.web.approvals.conftest import Ask

pytestmark = pytest.mark.django_db


def test_without_requests_the_list_says_what_will_be_there(as_viewer: Client) -> None:
    assert "No requests yet" in page_text(as_viewer, "/approvals/")


def test_what_another_person_requested_needs_your_approval(ask: Ask, as_peter: Client) -> None:
    ask()
    page = page_text(as_peter, "/approvals/")
    assert "Needs your approval 1" in page
    assert "For Monday" in page
    assert "Waiting for others" not in page


def test_ones_own_request_waits_for_others(ask: Ask, as_publisher: Client) -> None:
    ask()
    page = page_text(as_publisher, "/approvals/")
    assert "Waiting for others 1" in page
    assert page.count("Review") == 1  # In the sidebar.


def test_who_may_not_publish_has_nothing_to_approve(ask: Ask, as_viewer: Client) -> None:
    ask()
    page = page_text(as_viewer, "/approvals/")
    assert "Waiting for others 1" in page
    assert "Needs your approval" not in page


def test_a_request_that_expired_is_not_open_any_more(ask: Ask, as_peter: Client) -> None:
    ask()
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    page = page_text(as_peter, "/approvals/")
    assert "Decided and ended 1" in page
    assert "Expired" in page


def test_the_list_is_filtered_by_state(ask: Ask, as_peter: Client) -> None:
    ApprovalPage(as_peter, ask()).decide("decline", "Not yet")
    ask()
    assert "Decided and ended 1" in page_text(as_peter, "/approvals/?state=declined")
    assert "Needs your approval" not in page_text(as_peter, "/approvals/?state=declined")
    assert "Decided and ended" not in page_text(as_peter, "/approvals/?state=open")
    assert "No requests match" in page_text(as_peter, "/approvals/?state=void")


def test_the_list_has_pages(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    approval.state = RequestState.WITHDRAWN
    copies = [
        ApprovalRequest(**_columns(approval), title=f"Request {number}") for number in range(60)
    ]
    ApprovalRequest.objects.bulk_create(copies)
    first = page_text(as_peter, "/approvals/?state=withdrawn")
    assert "Request 59" in first
    assert "Request 9 " not in first
    assert "Request 9 " in page_text(as_peter, "/approvals/?state=withdrawn&start=50")


def test_the_sidebar_counts_what_one_can_decide(
    ask: Ask, as_peter: Client, as_publisher: Client, as_viewer: Client
) -> None:
    ask()
    cache.clear()
    assert "Approvals 1 needs your approval" in page_text(as_peter, "/activity/")
    assert "needs your approval" not in page_text(as_publisher, "/activity/")
    assert "needs your approval" not in page_text(as_viewer, "/activity/")
    ask()
    cache.clear()
    assert "Approvals 2 need your approval" in page_text(as_peter, "/activity/")


def _columns(approval: ApprovalRequest) -> dict[str, object]:
    names = ("kind", "state", "subject", "digest", "requested_by", "requested_by_name")
    return {name: getattr(approval, name) for name in (*names, "requested_at", "expires_at")}
