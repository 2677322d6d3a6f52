"""Approval of a release: requested on the release's page, decided on the request's page."""

import re
from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.releases.models import Release, ReleaseState
from tests.conftest import logged_in, person
from tests.support.approval_page import ApprovalPage, approval_url
from tests.support.clock import Clock
from tests.support.html import page_text, response_text
from tests.support.live_page import Region
from tests.support.release_page import SCHEDULE, ReleasePage
from tests.support.release_service import PublishingAudiences, work
from tests.support.seeding import seed_rule
from tests.web.approvals.conftest import Ask

pytestmark = pytest.mark.django_db


def refuse_connection() -> None:
    raise httpx.ConnectError("refused")


# Asking


@pytest.fixture
def board(release: Release, as_publisher: Client) -> ReleasePage:
    """Paula's release in her browser."""
    return ReleasePage(as_publisher, release)


def test_a_release_that_needs_an_approval_asks_for_one(board: ReleasePage) -> None:
    assert "It needs the approval of another person" in board.open().text
    assert "Request approval of 2" in board.text
    assert "Publish 2 now" not in board.text


def test_a_request_has_a_url_of_its_own(board: ReleasePage) -> None:
    board.decide("request-approval")
    approval = ApprovalRequest.objects.get()
    assert board.location == approval_url(approval)
    page = page_text(board.client, board.location)
    assert "Everyone who can approve it is notified" in page
    assert "Note from paula For Monday" in page
    assert board.state == ReleaseState.WAITING_FOR_APPROVAL


@pytest.mark.parametrize("steps", [["request-approval"], ["schedule", "request"]])
def test_the_same_form_leads_to_the_request(
    board: ReleasePage, as_peter: Client, steps: list[str]
) -> None:
    form = SCHEDULE | {"shown": board.open().value("shown"), "due": ""}
    first, second = (board.post(*steps, **form).location for _ in range(2))
    assert first == second == approval_url(ApprovalRequest.objects.get())
    assert ReleasePage(as_peter, board.release).post(*steps, **form).status == 422


def test_a_waiting_release_links_to_its_request(ask: Ask, as_publisher: Client) -> None:
    page = ReleasePage(as_publisher, ask().releases.get()).open().text
    assert "Needs approval" in page
    assert "Approval requested by paula" in page
    assert "View approval request" in page
    assert "Mark as reviewed" not in page


def test_the_agenda_has_what_waits_for_approval(ask: Ask, as_publisher: Client) -> None:
    ask()
    page = page_text(as_publisher, "/releases/")
    assert "Needs approval 1" in page
    assert "Once approved" in page


def test_what_was_not_shown_is_not_requested(board: ReleasePage) -> None:
    assert board.post("request-approval", shown="other").status == 422
    assert "Something changed since you opened this page" in board.text
    assert not ApprovalRequest.objects.exists()


def test_approval_can_be_requested_although_no_rule_needs_it(board: ReleasePage) -> None:
    seed_rule()
    assert "Publish 2 now" in board.open().text
    board.decide("request-approval")
    assert board.state == ReleaseState.WAITING_FOR_APPROVAL


def test_a_schedule_can_be_requested(board: ReleasePage) -> None:
    assert "If it isn’t approved by then, it’s held." in board.open("schedule").text
    assert "Schedule 2 versions" not in board.text
    board.decide("schedule", "request", **SCHEDULE)
    assert board.location == approval_url(ApprovalRequest.objects.get())
    assert "Scheduled for" in page_text(board.client, board.location)
    assert board.release.due_at


def test_an_approved_schedule_is_moved_by_a_new_request(
    board: ReleasePage, as_peter: Client
) -> None:
    day = (timezone.now() + timedelta(days=3)).date().isoformat()
    fields = {"date": day, "time": "14:00", "zone": "UTC"}
    board.decide("schedule", "request", **fields)
    approval = ApprovalRequest.objects.get()
    ApprovalPage(as_peter, approval).decide("approve")
    assert "It was approved for this time." in board.open().text
    assert "Reschedule and request approval" in board.open("schedule").text
    board.post("schedule", **fields | {"time": "15:00", "due": board.value("due")})
    approval.refresh_from_db()
    assert board.location == approval_url(ApprovalRequest.objects.exclude(pk=approval.pk).get())
    for client in (board.client, as_peter):
        page = page_text(client, approval_url(approval))
        assert "paula moved it to another time." in page
        assert re.search(r"Time .*14:00 UTC .*15:00 UTC Changed", page)


# An emergency

EMERGENCY = {"emergency": "on", "emergency_reason": "Prices are wrong"}


@pytest.fixture
def chiefs(release: Release) -> ReleasePage:
    """The release in the browser of an administrator who may publish."""
    chief = person("chief", "Administrators", "Publishers")
    return ReleasePage(logged_in(chief), release)


def test_an_administrator_publishes_alone_with_a_reason(chiefs: ReleasePage) -> None:
    assert "Publish 2 without approval" in chiefs.open().text
    chiefs.decide("publish", **EMERGENCY)
    assert chiefs.state == ReleaseState.RUNNING
    sentence = "chief decided to publish it without approval. Prices are wrong"
    assert sentence in chiefs.open().text


def test_an_emergency_needs_a_reason(chiefs: ReleasePage) -> None:
    assert chiefs.decide("publish", **EMERGENCY | {"emergency_reason": " "}).status == 422
    assert "Enter why it can’t wait for an approval." in chiefs.text
    assert chiefs.state == ReleaseState.DRAFT


def test_a_publisher_has_no_emergency(board: ReleasePage) -> None:
    assert "without approval" not in board.open().text
    board.decide("publish", **EMERGENCY)
    assert "Only administrators can publish without an approval." in board.text
    assert board.state == ReleaseState.DRAFT


# Deciding


@pytest.fixture
def page(ask: Ask, as_peter: Client) -> ApprovalPage:
    """The page of Paula's request, in Peter's browser."""
    return ApprovalPage(as_peter, ask())


def test_the_approver_sees_each_unchanged_version(page: ApprovalPage) -> None:
    seen = page.open().text
    assert "Checked just now: nothing has changed since the request." in seen
    assert "Only the version below was checked." in seen
    assert "Changes to the supplementary context" in seen
    assert "Your decision" in seen
    item = page.release.items.last()
    assert item
    assert item.audience_name in page.open(f"?item={item.pk}").text


def test_an_approved_release_is_published(page: ApprovalPage) -> None:
    assert "peter approved it" in page.decide("approve", "Fine").text
    assert page.release.state == ReleaseState.RUNNING


def test_a_declined_release_is_a_draft_with_the_reason(
    page: ApprovalPage, as_publisher: Client
) -> None:
    assert "peter declined it" in page.decide("decline", "Wrong price").text
    assert page.release.state == ReleaseState.DRAFT
    board = ReleasePage(as_publisher, page.release).open()
    assert "peter declined it: Wrong price" in board.text


def test_who_declines_gives_a_reason_and_loses_nothing(page: ApprovalPage) -> None:
    assert page.decide("decline").status == 422
    assert "Enter the reason why you decline." in page.text
    assert "The note has 2,001 characters." in page.decide("decline", "x" * 2001).text
    assert "x" * 2001 in page.html
    assert page.state == RequestState.OPEN


def test_a_question_leaves_the_request_open(page: ApprovalPage) -> None:
    assert "Write something first." in page.decide("ask").text
    page.decide("ask", note="Does this include the SIM fees?")
    assert page.state == RequestState.OPEN
    assert "1 open comment" in page.text
    assert "Does this include the SIM fees?" in page.text


def test_a_question_that_is_sent_twice_is_asked_once(page: ApprovalPage) -> None:
    decision = page.open().html.split(page.url("decline"))[1]
    form = {
        "form_key": re.findall('name="form_key" value="(.*?)"', decision)[0],
        "note": "Why now?",
    }
    for _ in range(2):
        page.show(page.client.post(page.url("ask"), form, follow=True))
    assert "1 open comment" in page.text


def test_a_requester_cannot_approve_the_request(ask: Ask, as_publisher: Client) -> None:
    page = ApprovalPage(as_publisher, ask())
    assert "Your own request: another person decides it." in page.open().text
    assert page.decide("approve").status == 422
    assert "It’s your own request" in page.text
    assert page.release.state == ReleaseState.WAITING_FOR_APPROVAL


def test_accounts_with_one_address_are_one_person(
    page: ApprovalPage, paula: User, peter: User
) -> None:
    User.objects.filter(pk__in=(paula.pk, peter.pk)).update(email="paula@kestrel.example")
    assert "Ask another person" in page.open().text
    assert page.decide("approve").status == 422


def test_who_may_not_publish_decides_nothing(ask: Ask, as_viewer: Client) -> None:
    page = ApprovalPage(as_viewer, ask())
    assert "may not approve this" in page.open().text
    for step in ("approve", "decline", "withdraw", "send"):
        assert page.decide(step).status == 403


def test_the_requester_withdraws(page: ApprovalPage, as_publisher: Client) -> None:
    assert "You can withdraw your own requests only." in page.decide("withdraw").text
    paulas = ApprovalPage(as_publisher, page.approval)
    assert "paula withdrew the request." in paulas.decide("withdraw").text
    assert page.release.state == ReleaseState.DRAFT


def test_a_second_decision_names_the_first(page: ApprovalPage) -> None:
    page.decide("decline", "No")
    again = ApprovalPage(logged_in(person("petra", "Publishers")), page.approval)
    assert again.decide("approve").status == 422
    assert "peter declined it. Nothing was changed." in again.text


# What has changed


def test_a_changed_item_cannot_be_approved(
    page: ApprovalPage, service: PublishingAudiences
) -> None:
    item = page.release.items.first()
    assert item
    key = (item.page_id, item.audience_id)
    version = service.audiences[key]["latestVersion"]
    service.change(key, latestVersion=version | {"supplementaryContext": "Rewritten by the agent."})
    seen = page.open().text
    assert "Changed since the request" in seen
    assert f"Text of version {item.version_number}" in seen
    assert "Rewritten by the agent." in seen
    assert "It has changed since the request, so it can’t be approved." in seen
    assert "Approve " not in seen.partition("Your decision")[2]


def test_without_the_service_the_page_could_not_check(
    page: ApprovalPage, service: PublishingAudiences
) -> None:
    service.before = refuse_connection
    assert "Couldn’t check what has changed since." in page.open().text


def test_a_void_request_shows_then_and_now(page: ApprovalPage) -> None:
    differences = [
        {"item": "Acme", "what": "Live version", "then": "Version 3", "now": "Version 4"}
    ]
    ApprovalRequest.objects.update(
        state=RequestState.VOID,
        ended_at=timezone.now(),
        end_reason="It changed after the request. Nothing was sent.",
        differences=differences,
    )
    seen = page.open().text
    assert "It changed, so the approval is void." in seen
    assert "Live version Acme Version 3 Version 4 Changed" in seen
    assert "Mark as" not in seen  # Only the release's own page has it.


def test_a_get_decides_nothing_and_leads_to_the_request(ask: Ask, as_peter: Client) -> None:
    approval = ask()
    for step in ("approve", "decline", "withdraw", "send"):
        assert as_peter.get(approval_url(approval, step)).url == approval_url(approval)
    assert as_peter.get("/approvals/999/").status_code == 404


def test_the_link_survives_a_sign_in(ask: Ask, peter: User) -> None:
    approval, client = ask(), Client()
    for step in ("", "approve"):
        page = approval_url(approval, step) if step else approval_url(approval)
        answer = client.post(
            approval_url(approval, "approve"), headers={"Referer": f"http://testserver{page}"}
        )
        assert answer.url == f"/accounts/login/?next={page}"
        form = {"username": "peter", "password": "peter", "next": page}
        signed_in = client.post("/accounts/login/", form, follow=True)
        assert signed_in.redirect_chain[-1][0] == approval_url(approval)
        assert "Your decision" in response_text(signed_in)
        client.post("/accounts/logout/")


# What becomes of it


def test_the_page_follows_until_the_version_is_live(
    ask: Ask, service: PublishingAudiences, as_peter: Client, clock: Clock
) -> None:
    service.is_fast = False
    approval = ask(1)
    release = approval.releases.get()
    decided = ApprovalPage(as_peter, approval).decide("approve")
    page = Region(as_peter, decided.url_shown, "approval")
    assert {f"approval:{approval.pk}", f"release:{release.pk}"} <= {*page.topics}
    assert "Version 2 is being checked once more." in page.text
    assert page.is_moving
    work(release, clock, minutes=0.1)
    assert "Version 2 is being published." in page.refresh().text
    service.all_go_live()
    work(release, clock, minutes=1)
    assert "Version 2 is live since" in page.refresh().text
    assert "Live when requested" in page.text
    assert "Live now" not in page.text
    assert "After publishing" not in page.text
    assert not page.is_moving


def test_a_decision_leads_to_the_next_request(
    ask: Ask, as_peter: Client, as_publisher: Client
) -> None:
    first, second = ask(1), ask(1)
    page = ApprovalPage(as_peter, first).decide("decline", "Wrong price")
    assert "Review the next request" in page.text
    assert f'href="{approval_url(second)}"' in page.html
    assert "Review the next request" not in page_text(as_publisher, approval_url(first))
    ApprovalPage(as_peter, second).decide("approve")
    assert "Review the next request" not in page_text(as_peter, approval_url(second))
