"""A request for the approval of a release: asked on its page, decided on the request's."""

import re
from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import ApprovalRequest
from dashboard.ledger.models.approvals import RequestState
from dashboard.releases.models import Release, ReleaseState
from tests.conftest import logged_in, person
from tests.support.html import text
from tests.support.release_service import PublishingAudiences
from tests.web.approvals.conftest import Ask, decide, new_rule, said, shown, url
from tests.web.releases.conftest import decide as decide_on_release
from tests.web.releases.conftest import hidden
from tests.web.releases.conftest import url as release_url

pytestmark = pytest.mark.django_db


def refuse_connection() -> None:
    raise httpx.ConnectError("refused")


def state_of(release: Release) -> str:
    release.refresh_from_db()
    return str(release.state)


# Asking


def test_a_release_that_needs_an_approval_asks_for_one(
    release: Release, as_publisher: Client
) -> None:
    page = shown(as_publisher, release_url(release))
    assert "It needs the approval of another person" in page
    assert "Request approval of 2" in page
    assert "Publish 2 now" not in page


def test_a_request_has_an_address_of_its_own(release: Release, as_publisher: Client) -> None:
    answer = decide_on_release(as_publisher, release, "request-approval")
    approval = ApprovalRequest.objects.get()
    assert answer.url == url(approval)
    page = shown(as_publisher, answer.url)
    assert "Everyone who can approve it was notified" in page
    assert "Note from paula For Monday" in page
    assert state_of(release) == ReleaseState.WAITING_FOR_APPROVAL


def test_a_release_that_waits_says_who_asked_and_leads_to_the_request(
    ask: Ask, as_publisher: Client
) -> None:
    release = ask().releases.get()
    page = shown(as_publisher, release_url(release))
    assert "Needs approval" in page
    assert "Approval requested by paula" in page
    assert "View approval request" in page
    assert "Mark as reviewed" not in page


def test_the_agenda_has_what_waits_for_approval(ask: Ask, as_publisher: Client) -> None:
    ask()
    page = shown(as_publisher, "/releases/")
    assert "Needs approval 1" in page
    assert "Once approved" in page


def test_what_was_not_shown_is_not_requested(release: Release, as_publisher: Client) -> None:
    answer = as_publisher.post(release_url(release, "request-approval"), {"shown": "other"})
    assert answer.status_code == 422
    assert "Something changed since you opened this page" in said(answer)
    assert not ApprovalRequest.objects.exists()


def test_publishing_now_is_refused(
    release: Release, service: PublishingAudiences, as_publisher: Client
) -> None:
    answer = decide_on_release(as_publisher, release, "publish")
    assert answer.status_code == 422
    assert "It needs the approval of another person." in said(answer)
    assert state_of(release) == ReleaseState.DRAFT


def test_approval_can_be_requested_although_no_rule_needs_it(
    release: Release, as_publisher: Client
) -> None:
    new_rule()
    page = shown(as_publisher, release_url(release))
    assert "Publish 2 now" in page
    decide_on_release(as_publisher, release, "request-approval")
    assert state_of(release) == ReleaseState.WAITING_FOR_APPROVAL


def test_a_schedule_can_be_requested(release: Release, as_publisher: Client) -> None:
    page = shown(as_publisher, release_url(release, "schedule"))
    assert "If it isn’t approved by then, it’s held." in page
    assert "Schedule 2 versions" not in page
    day = (timezone.now() + timedelta(days=1)).date().isoformat()
    fields = {"date": day, "time": "14:00", "zone": "UTC", "approval": "on"}
    answer = decide_on_release(as_publisher, release, "schedule", **fields)
    assert answer.url == url(ApprovalRequest.objects.get())
    assert "Scheduled for" in shown(as_publisher, answer.url)
    release.refresh_from_db()
    assert release.due_at


def test_an_approved_schedule_is_moved_by_a_new_request(
    release: Release, as_publisher: Client, as_peter: Client
) -> None:
    day = (timezone.now() + timedelta(days=3)).date().isoformat()
    fields = {"date": day, "time": "14:00", "zone": "UTC", "approval": "on"}
    decide_on_release(as_publisher, release, "schedule", **fields)
    approval = ApprovalRequest.objects.get()
    decide(as_peter, approval, "approve")
    assert "It was approved for this time." in shown(as_publisher, release_url(release))
    address = release_url(release, "schedule")
    html = as_publisher.get(address).content.decode()
    assert "Reschedule and request approval" in text(html)
    due = hidden(html, "due")
    answer = as_publisher.post(address, fields | {"time": "15:00", "due": due})
    approval.refresh_from_db()
    assert answer.url == url(ApprovalRequest.objects.exclude(pk=approval.pk).get())
    for client in (as_publisher, as_peter):
        page = shown(client, url(approval))
        assert "paula moved it to another time." in page
        assert re.search(r"Time .*14:00 UTC .*15:00 UTC Changed", page)


# An emergency


@pytest.fixture
def as_chief(db: None) -> Client:
    """A test client logged in as an administrator who may publish."""
    return logged_in(person("chief", "Administrators", "Publishers"))


def test_an_administrator_publishes_alone_with_a_reason(release: Release, as_chief: Client) -> None:
    assert "Publish 2 without approval" in shown(as_chief, release_url(release))
    fields = {"emergency": "on", "emergency_reason": "Prices are wrong"}
    decide_on_release(as_chief, release, "publish", **fields)
    assert state_of(release) == ReleaseState.RUNNING
    page = shown(as_chief, release_url(release))
    assert "chief decided to publish it without approval. Prices are wrong" in page


def test_an_emergency_needs_a_reason(release: Release, as_chief: Client) -> None:
    fields = {"emergency": "on", "emergency_reason": " "}
    answer = decide_on_release(as_chief, release, "publish", **fields)
    assert answer.status_code == 422
    assert "Enter why it can’t wait for an approval." in said(answer)
    assert state_of(release) == ReleaseState.DRAFT


def test_a_publisher_has_no_emergency(release: Release, as_publisher: Client) -> None:
    assert "without approval" not in shown(as_publisher, release_url(release))
    fields = {"emergency": "on", "emergency_reason": "Now"}
    answer = decide_on_release(as_publisher, release, "publish", **fields)
    assert "Only administrators can publish without an approval." in said(answer)
    assert state_of(release) == ReleaseState.DRAFT


# Deciding


def test_the_approver_sees_each_version_and_that_nothing_has_changed(
    ask: Ask, as_peter: Client
) -> None:
    approval = ask()
    page = shown(as_peter, url(approval))
    assert "Checked just now: nothing has changed since the request." in page
    assert "Changes to the supplementary context" in page
    assert "Your decision" in page
    item = approval.releases.get().items.last()
    assert item
    assert item.audience_name in shown(as_peter, f"{url(approval)}?item={item.pk}")


def test_an_approved_release_is_published(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    answer = decide(as_peter, approval, "approve", "Fine")
    assert "peter approved it" in shown(as_peter, answer.url)
    assert state_of(approval.releases.get()) == ReleaseState.RUNNING


def test_a_declined_release_is_a_draft_again_with_the_reason(
    ask: Ask, as_peter: Client, as_publisher: Client
) -> None:
    approval = ask()
    answer = decide(as_peter, approval, "decline", "Wrong price")
    assert "peter declined it" in shown(as_peter, answer.url)
    release = approval.releases.get()
    assert state_of(release) == ReleaseState.DRAFT
    assert "peter declined it: Wrong price" in shown(as_publisher, release_url(release))


def test_who_declines_gives_a_reason_and_loses_nothing(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    answer = decide(as_peter, approval, "decline")
    assert answer.status_code == 422
    assert "Enter the reason why you decline." in said(answer)
    long = decide(as_peter, approval, "decline", "x" * 2001)
    assert "The note has 2,001 characters." in said(long)
    assert "x" * 2001 in long.content.decode()


def test_nobody_approves_an_own_request(ask: Ask, as_publisher: Client) -> None:
    approval = ask()
    page = shown(as_publisher, url(approval))
    assert "Your own request: another person decides it." in page
    answer = decide(as_publisher, approval, "approve")
    assert answer.status_code == 422
    assert "It’s your own request" in said(answer)
    assert state_of(approval.releases.get()) == ReleaseState.WAITING_FOR_APPROVAL


def test_a_second_account_with_the_same_address_is_the_same_person(
    ask: Ask, paula: User, peter: User, as_peter: Client
) -> None:
    User.objects.filter(pk__in=(paula.pk, peter.pk)).update(email="paula@kestrel.example")
    approval = ask()
    assert "Ask another person" in shown(as_peter, url(approval))
    assert decide(as_peter, approval, "approve").status_code == 422


def test_who_may_not_publish_decides_nothing(ask: Ask, as_viewer: Client) -> None:
    approval = ask()
    assert "may not approve this" in shown(as_viewer, url(approval))
    for step in ("approve", "decline", "withdraw", "send"):
        assert decide(as_viewer, approval, step).status_code == 403


def test_the_requester_withdraws(ask: Ask, as_publisher: Client, as_peter: Client) -> None:
    approval = ask()
    refused = decide(as_peter, approval, "withdraw")
    assert "You can withdraw your own requests only." in said(refused)
    answer = decide(as_publisher, approval, "withdraw")
    assert "paula withdrew the request." in shown(as_publisher, answer.url)
    assert state_of(approval.releases.get()) == ReleaseState.DRAFT


def test_the_second_of_two_decisions_is_told_of_the_first(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    decide(as_peter, approval, "decline", "No")
    again = decide(logged_in(person("petra", "Publishers")), approval, "approve")
    assert again.status_code == 422
    assert "peter declined it. Nothing was changed." in said(again)


# What has changed


def test_what_has_changed_since_is_shown_and_cannot_be_approved(
    ask: Ask, service: PublishingAudiences, as_peter: Client
) -> None:
    approval = ask()
    item = approval.releases.get().items.first()
    assert item
    key = (item.page_id, item.audience_id)
    version = service.audiences[key]["latestVersion"]
    service.change(key, latestVersion=version | {"supplementaryContext": "Rewritten by the agent."})
    page = shown(as_peter, url(approval))
    assert "Changed since the request" in page
    assert f"Text of version {item.version_number}" in page
    assert "Rewritten by the agent." in page
    assert "It has changed since the request, so it can’t be approved." in page
    assert "Approve " not in page.partition("Your decision")[2]


def test_without_the_service_the_page_says_that_it_could_not_check(
    ask: Ask, service: PublishingAudiences, as_peter: Client
) -> None:
    approval = ask()
    service.before = refuse_connection
    page = shown(as_peter, url(approval))
    assert "Couldn’t check what has changed since." in page


def test_a_void_request_shows_then_and_now(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    differences = [
        {"item": "Acme", "what": "Live version", "then": "Version 3", "now": "Version 4"}
    ]
    ApprovalRequest.objects.update(
        state=RequestState.VOID,
        ended_at=timezone.now(),
        end_reason="It changed after the request. Nothing was sent.",
        differences=differences,
    )
    page = shown(as_peter, url(approval))
    assert "It changed, so the approval is void." in page
    assert "Live version Acme Version 3 Version 4 Changed" in page
    assert "Mark as" not in page  # That is on the release's own page.


def test_a_get_decides_nothing(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    for step in ("approve", "decline", "withdraw", "send"):
        assert as_peter.get(url(approval, step)).status_code == 405
    assert as_peter.get("/approvals/999/").status_code == 404
