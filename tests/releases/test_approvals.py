"""A release that needs the approval of another person: it is sent exactly as approved, or not."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, User
from django.db import OperationalError, connection
from django.utils import timezone

from dashboard.ledger.models import ApprovalRequest, ApprovalRule, Operation
from dashboard.ledger.models.approvals import RequestState
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import Clearance
from dashboard.notifications.models import Notification
from dashboard.operations.approval_requests import ApprovalError
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish import begin_publish
from dashboard.operations.publish_review import review_publish
from dashboard.operations.resending import resend, review_again
from dashboard.releases import approving, decisions, drafting, next_drafts
from dashboard.releases.approvals import subject_of
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.schedules import parse_moment
from tests.conftest import person
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.release_service import (
    PublishingAudiences,
    accepts,
    decide,
    fails,
    schedule,
    states,
    work,
)

Ask = Callable[..., ApprovalRequest]
HELD, FINISHED = ReleaseState.HELD, ReleaseState.FINISHED


@pytest.fixture
def service(db: None, fake_service: FakeService, clock: Clock) -> PublishingAudiences:
    """A service that publishes at once."""
    fake_service.answer = service = PublishingAudiences()
    return service


@pytest.fixture
def rule(db: None) -> ApprovalRule:
    """Publishing needs an approval; rolling back does not."""
    return new_rule(covers_publishing=True)


@pytest.fixture
def peter(db: None) -> User:
    """Peter, another publisher."""
    return person("peter", "Publishers")


@pytest.fixture
def ask(service: PublishingAudiences, paula: User, rule: ApprovalRule) -> Ask:
    """Has Paula ask for the approval of a checked release of so many new audiences."""

    def make(count: int = 1, *, hours: int = 0) -> ApprovalRequest:
        release = checked(service, paula, count)
        return approving.request_approval(
            release, paula, "", board_digest(release), moment=in_hours(hours) if hours else None
        )

    return make


def new_rule(**covers: Any) -> ApprovalRule:
    return ApprovalRule.objects.create(changed_at=timezone.now(), changed_by_name="ada", **covers)


def checked(service: PublishingAudiences, user: User, count: int = 1) -> Release:
    keys = service.add(count, page_id=f"page_{len(service.pages)}")
    release = create_release(name="", note="For Monday", audiences=keys, user=user)
    check_release(release)
    return release


def ask_for(
    service: PublishingAudiences, user: User, keys: list[tuple[str, str]]
) -> ApprovalRequest:
    """Ask for the approval of a checked release of these audiences, in this order."""
    release = create_release(name="", note="", audiences=keys, user=user)
    check_release(release)
    return approving.request_approval(release, user, "", board_digest(release))


def in_hours(hours: int) -> Any:
    due = timezone.now() + timedelta(hours=hours)
    return parse_moment(f"{due:%Y-%m-%d}", f"{due:%H:%M}", "UTC", now=timezone.now())


def approve(request: ApprovalRequest, user: User) -> Release:
    approving.approve(request, user, note="", shown=request.digest)
    return request.releases.get()


def decline(request: ApprovalRequest, user: User) -> None:
    approving.decline(request, user, note="Not yet", shown=request.digest)


def state_of(request: ApprovalRequest) -> RequestState:
    request.refresh_from_db()
    return RequestState(request.state)


def test_an_approved_release_is_sent_in_the_name_of_who_asked(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock
) -> None:
    request = ask(2)
    release = approve(request, peter)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.LIVE] * 2)
    sent = Operation.objects.values_list("actor_name", "approval", "outcome")
    assert set(sent) == {("paula", request.pk, Outcome.ACCEPTED)}


def test_nothing_is_sent_while_nobody_has_approved(
    ask: Ask, service: PublishingAudiences, clock: Clock
) -> None:
    release = ask(2).releases.get()
    work(release, clock, minutes=60)
    assert (release.state, service.sent) == (ReleaseState.WAITING_FOR_APPROVAL, [])


def test_an_approved_release_with_a_time_is_sent_then(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock
) -> None:
    release = approve(ask(hours=3), peter)
    work(release, clock, minutes=179)
    assert (release.state, service.sent) == (ReleaseState.SCHEDULED, [])
    work(release, clock, minutes=2)
    assert release.state == ReleaseState.FINISHED


KEY = ("page_0", "aud_1")


def latest(service: PublishingAudiences, **differs: Any) -> None:
    service.change(KEY, latestVersion=service.version(KEY, 2, **differs))


CHANGES: dict[str, tuple[str, Callable[[PublishingAudiences], object]]] = {
    "text": ("Text of version 2", lambda it: latest(it, supplementaryContext="Another")),
    "status": ("Status of version 2", lambda it: latest(it, status="queued")),
    "agent": ("New page agent", lambda it: latest(it, isNewPageAgent=False)),
    "live": ("Live version", lambda it: it.change(KEY, publishedVersion=it.live(KEY, 0))),
    "nothing live": ("Live version", lambda it: it.change(KEY, publishedVersion=None)),
    "page": ("Page status", lambda it: it.pages["page_0"].update(status="archived")),
    "audience": ("Audience", lambda it: it.change(KEY, archivedAt="2026-11-20T10:00:00Z")),
    "pending": ("Pending changes", lambda it: it.pending.update({KEY: ["change_1"]})),
    "newer": ("Warnings", lambda it: it.edit(KEY)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("before_approval", [True, False])
def test_whatever_changes_voids_the_approval_and_says_what(
    ask: Ask,
    service: PublishingAudiences,
    peter: User,
    clock: Clock,
    *,
    change: str,
    before_approval: bool,
) -> None:
    what, make = CHANGES[change]
    request = ask(2, hours=1)
    if before_approval:
        make(service)
    release = approve(request, peter)
    if not before_approval:
        make(service)
    work(release, clock, minutes=90)
    assert (release.state, state_of(request)) == (HELD, RequestState.VOID)
    assert service.sent == []
    assert what in {each["what"] for each in request.differences}
    assert all(each["then"] != each["now"] for each in request.differences)
    assert request.end_reason in release.hold_reason


@pytest.mark.parametrize("change", ["note", "order", "items", "version"])
def test_a_release_that_is_not_the_approved_one_is_held(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock, change: str
) -> None:
    request = ask(3, hours=1)
    release = approve(request, peter)
    first, second, _ = release.items.all()
    match change:
        case "note":
            Release.objects.filter(pk=release.pk).update(note="Another")
        case "order":
            release.items.filter(pk=first.pk).update(position=second.position + 9)
        case "items":
            second.delete()
        case "version":
            release.items.filter(pk=first.pk).update(version_id="ver_aud_1_1")
    work(release, clock, minutes=90)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(request), service.sent) == (RequestState.VOID, [])


def test_a_change_between_two_items_voids_the_approval_for_the_rest(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock
) -> None:
    def pause_once(service: PublishingAudiences, *_: object) -> httpx.Response:
        del service.ways["aud_2"]
        service.edit(("page_0", "aud_3"))
        return httpx.Response(429, headers={"retry-after": "30"})

    service.ways["aud_2"] = pause_once
    request = ask(3)
    release = approve(request, peter)
    work(release, clock)
    assert (release.state, state_of(request)) == (HELD, RequestState.VOID)
    assert states(release) == [ItemState.LIVE, ItemState.WAITING, ItemState.HELD]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_approved", [True, False])
def test_each_version_is_checked_in_full_right_before_it_is_sent(
    ask: Ask,
    service: PublishingAudiences,
    paula: User,
    peter: User,
    clock: Clock,
    *,
    change: str,
    is_approved: bool,
) -> None:
    def is_slow(service: PublishingAudiences, key: Any, version_id: str) -> httpx.Response:
        # The next version changes only after the first check, while this one is published.
        clock.advance(3)
        CHANGES[change][1](service)
        return accepts(service, key, version_id)

    service.add(1, page_id="page_0")
    service.add(1, page_id="page_1")
    service.ways["aud_2"] = is_slow
    request = ask_for(service, paula, [("page_1", "aud_2"), KEY])
    if is_approved:
        release = approve(request, peter)
    else:
        approving.withdraw(request, paula)
        new_rule()
        release = request.releases.get()
        check_release(release)
        decide(release, paula)
    work(release, clock)
    assert (release.state, service.audiences_sent) == (HELD, ["aud_2"])


def test_a_recent_check_is_not_repeated(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock
) -> None:
    def takes_a_second(*args: Any) -> httpx.Response:
        clock.advance(1)
        return accepts(*args)

    service.way = takes_a_second
    release = approve(ask(9), peter)
    service.paths.clear()
    work(release, clock, minutes=0.5)
    assert len(service.sent) == 9
    conversations = sum(path.endswith("/messages") for path in service.paths)
    # Nine at first; then, every three seconds, as many as fit into three.
    assert conversations == 9 + 3 + 3


MOVES: dict[str, Callable[[Release, User], object]] = {
    "rescheduled": lambda it, user: decisions.reschedule(it, user, in_hours(1)),
    "requested again": lambda it, user: approving.request_approval(it, user, "", board_digest(it)),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("who", ["paula", "peter"])
def test_another_time_needs_another_approval(
    ask: Ask,
    service: PublishingAudiences,
    paula: User,
    peter: User,
    clock: Clock,
    *,
    move: str,
    who: str,
) -> None:
    first = ask(hours=72)
    release = approve(first, peter)
    MOVES[move](release, {"paula": paula, "peter": peter}[who])
    assert state_of(first) == RequestState.VOID
    [difference] = first.differences
    assert (difference["what"], difference["now"] != difference["then"]) == ("Time", True)
    notifications = Notification.objects.filter(event__kind="approval_void")
    assert {notification.user for notification in notifications} == {paula, peter}
    assert notifications[0].event.facts["became"] == "is void, changed: Time"
    release.refresh_from_db()
    second = release.approval
    assert second
    assert (second.state, second.requested_by_name) == (RequestState.OPEN, who)
    work(release, clock, minutes=80 * 60)
    assert (release.state != FINISHED, service.sent) == (True, [])


def test_what_was_approved_for_a_time_is_not_published_now(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    request = ask(hours=72)
    release = approve(request, peter)
    with pytest.raises(ReleaseError, match="approved for another time"):
        decide(release, paula)
    Release.objects.filter(pk=release.pk).update(due_at=timezone.now(), wake_at=timezone.now())
    work(release, clock)
    assert (release.state, state_of(request)) == (HELD, RequestState.VOID)
    assert service.sent == []


def test_the_same_moment_in_another_zone_stays_approved(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    request = ask(hours=3)
    release = approve(request, peter)
    local = release.due_at.astimezone(ZoneInfo("Asia/Tokyo")) if release.due_at else None
    moment = parse_moment(f"{local:%Y-%m-%d}", f"{local:%H:%M}", "Asia/Tokyo", now=timezone.now())
    assert decisions.reschedule(release, paula, moment) is None
    work(release, clock, minutes=181)
    assert (release.state, state_of(request)) == (ReleaseState.FINISHED, RequestState.APPROVED)


def test_without_a_rule_another_time_voids_a_voluntary_approval(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    request = ask(hours=72)
    release = approve(request, peter)
    new_rule()
    assert decisions.reschedule(release, paula, in_hours(1)) is None
    assert state_of(request) == RequestState.VOID
    work(release, clock, minutes=61)
    assert (release.state, len(service.sent)) == (ReleaseState.FINISHED, 1)


@pytest.mark.parametrize("is_approved", [True, False])
def test_that_the_others_are_published_is_part_of_the_approval(
    service: PublishingAudiences,
    rule: ApprovalRule,
    paula: User,
    peter: User,
    clock: Clock,
    *,
    is_approved: bool,
) -> None:
    release = checked(service, paula, 3)
    request = approving.request_approval(
        release, paula, "", board_digest(release), publishes_others=is_approved
    )
    release = approve(request, peter)
    if not is_approved:
        Release.objects.filter(pk=release.pk).update(publishes_others=True)
    service.pending[("page_0", "aud_2")] = ["change_1"]
    work(release, clock)
    if is_approved:
        assert (release.state, service.audiences_sent) == (FINISHED, ["aud_1", "aud_3"])
        assert state_of(request) == RequestState.APPROVED
    else:
        assert (release.state, service.sent, state_of(request)) == (HELD, [], RequestState.VOID)


def test_what_was_approved_without_that_option_is_not_continued_with_it(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    release = approve(ask(3), peter)
    decisions.stop(release, paula)
    work(release, clock)
    with pytest.raises(ReleaseError, match="another choice"):
        decide(release, paula, publishes_others=True)
    assert service.sent == []


def test_what_was_approved_can_no_longer_be_edited(ask: Ask) -> None:
    release = ask(2).releases.get()
    with pytest.raises(ReleaseError, match="waiting for approval"):
        drafting.set_name_and_note(release, "Another", "Another")
    with pytest.raises(ReleaseError, match="waiting for approval"):
        drafting.remove_item(release.items.all()[0])


def _same_address(paula: User, other: User) -> None:
    User.objects.filter(pk=paula.pk).update(email="paula@kestrel.example")
    User.objects.filter(pk=other.pk).update(email="Paula@Kestrel.example")


def _same_identity(paula: User, other: User) -> None:
    for user, provider in ((paula, "https://old.example"), (other, "https://new.example")):
        SocialAccount.objects.create(user=user, provider=provider, uid="subject-1")


def _lost_right(paula: User, other: User) -> None:
    other.groups.clear()


def _turned_off(paula: User, other: User) -> None:
    User.objects.filter(pk=other.pk).update(is_active=False)


@pytest.mark.parametrize("make", [_same_address, _same_identity, _lost_right, _turned_off])
@pytest.mark.parametrize("when", ["before", "after"])
def test_who_may_not_approve_does_not(
    ask: Ask,
    service: PublishingAudiences,
    paula: User,
    peter: User,
    clock: Clock,
    *,
    make: Callable[[User, User], None],
    when: str,
) -> None:
    request = ask(hours=1)
    if when == "before":
        make(paula, peter)
        with pytest.raises(ApprovalError):
            approve(request, User.objects.get(pk=peter.pk))
        assert state_of(request) == RequestState.OPEN
        return
    release = approve(request, peter)
    make(paula, peter)
    work(release, clock, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(request), service.sent) == (RequestState.VOID, [])


def test_nobody_approves_their_own_request(ask: Ask, paula: User) -> None:
    with pytest.raises(ApprovalError, match="your own"):
        approve(ask(), paula)


@pytest.mark.parametrize("who", ["requester", "approver"])
def test_a_deleted_account_voids_the_approval(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock, *, who: str
) -> None:
    request = ask(hours=1)
    release = approve(request, peter)
    {"requester": paula, "approver": peter}[who].delete()
    work(release, clock, minutes=61)
    assert (release.state, service.sent) == (HELD, [])
    assert "no longer exists" in release.hold_reason


@pytest.mark.parametrize("first", ["approve", "decline", "withdraw"])
@pytest.mark.parametrize("second", ["approve", "decline", "withdraw"])
def test_a_request_is_decided_once(
    ask: Ask, paula: User, peter: User, *, first: str, second: str
) -> None:
    decide_by: dict[str, Callable[[ApprovalRequest], object]] = {
        "approve": lambda it: approve(it, peter),
        "decline": lambda it: decline(it, peter),
        "withdraw": lambda it: approving.withdraw(it, paula),
    }
    request = ask()
    other_page = ApprovalRequest.objects.get(pk=request.pk)
    decide_by[first](request)
    state = state_of(request)
    with pytest.raises(ApprovalError, match="Nothing was changed"):
        decide_by[second](other_page)
    assert state_of(request) == state


@pytest.mark.parametrize("end", ["decline", "withdraw"])
def test_what_is_not_approved_is_a_draft_again(
    ask: Ask, paula: User, peter: User, end: str
) -> None:
    request = ask(2)
    if end == "decline":
        decline(request, peter)
    else:
        approving.withdraw(request, paula)
    release = request.releases.get()
    assert (release.state, release.needs_check) == (ReleaseState.DRAFT, True)
    with pytest.raises(ReleaseError, match="Not sent"):
        decide(release, paula)


def test_declining_needs_a_reason(ask: Ask, peter: User) -> None:
    request = ask()
    with pytest.raises(ApprovalError) as raised:
        approving.decline(request, peter, note=" ", shown=request.digest)
    assert (raised.value.field, state_of(request)) == ("note", RequestState.OPEN)


def test_only_what_was_shown_is_approved(ask: Ask, peter: User) -> None:
    request = ask()
    with pytest.raises(ApprovalError, match="Review it again"):
        approving.approve(request, peter, note="", shown="of another request")
    assert state_of(request) == RequestState.OPEN


def test_a_request_expires(
    ask: Ask, service: PublishingAudiences, peter: User, clock: Clock, rule: ApprovalRule
) -> None:
    request = ask()
    clock.advance(rule.days * 86_400)
    with pytest.raises(ApprovalError, match="expired"):
        approve(request, peter)
    release = request.releases.get()
    work(release, clock)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(request), service.sent) == (RequestState.EXPIRED, [])


def test_a_release_that_is_due_before_it_is_approved_is_held(
    ask: Ask, service: PublishingAudiences, clock: Clock
) -> None:
    request = ask(hours=1)
    release = request.releases.get()
    work(release, clock, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(request), service.sent) == (RequestState.EXPIRED, [])


def test_a_held_release_can_be_requested_again(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    first = ask(2)
    service.pending[KEY] = ["change_1"]
    release = approve(first, peter)
    work(release, clock)
    assert release.state == HELD
    check_release(release)
    again = approving.request_approval(release, paula, "2", board_digest(release))
    release = approve(again, peter)
    work(release, clock)
    assert (release.state, len(service.sent)) == (ReleaseState.FINISHED, 2)


def test_turning_the_rule_on_holds_what_is_scheduled_without_an_approval(
    service: PublishingAudiences, paula: User, ada: User, clock: Clock
) -> None:
    release = schedule(checked(service, paula))
    assert approving.change_rule(ada, ApprovalRule(covers_publishing=True)) == [release]
    work(release, clock, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert service.sent == []


def test_a_release_that_runs_when_the_rule_is_turned_on_is_held(
    service: PublishingAudiences, paula: User, ada: User, clock: Clock
) -> None:
    release = checked(service, paula, 2)
    decide(release, paula)
    approving.change_rule(ada, ApprovalRule(covers_publishing=True))
    work(release, clock)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert service.sent == []


def test_a_schedule_that_is_approved_stays_when_the_rule_is_changed(
    ask: Ask, peter: User, ada: User
) -> None:
    approve(ask(hours=1), peter)
    assert approving.change_rule(ada, ApprovalRule(covers_publishing=True, days=3)) == []


DECISIONS: dict[str, Callable[[Release, User], None]] = {
    "publish": lambda it, user: decisions.publish(it, user, "", board_digest(it)),
    "schedule": lambda it, user: decisions.schedule(it, user, in_hours(1), "", board_digest(it)),
    "continue": lambda it, user: decisions.continue_release(it, user, "", board_digest(it)),
}


@pytest.mark.parametrize("how", DECISIONS)
def test_no_decision_replaces_an_approval(
    service: PublishingAudiences, rule: ApprovalRule, paula: User, how: str
) -> None:
    release = checked(service, paula)
    if how == "continue":
        Release.objects.filter(pk=release.pk).update(state=HELD)
    with pytest.raises(ReleaseError, match="needs the approval of another person"):
        DECISIONS[how](release, paula)
    assert service.sent == []


def test_a_stopped_release_goes_on_by_the_same_approval(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    release = approve(ask(3), peter)
    decisions.stop(release, paula)
    work(release, clock)
    assert release.state == HELD
    decide(release, paula)
    work(release, clock)
    assert (release.state, len(service.sent)) == (ReleaseState.FINISHED, 3)


def test_a_skipped_item_needs_another_approval(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    release = approve(ask(3), peter)
    decisions.stop(release, paula)
    work(release, clock)
    decisions.skip_item(release.items.all()[1], paula)
    with pytest.raises(ReleaseError, match="differs from what was approved"):
        decide(release, paula)
    assert service.sent == []


def test_an_administrator_publishes_alone_with_a_reason(
    service: PublishingAudiences, rule: ApprovalRule, ada: User, clock: Clock
) -> None:
    ada.groups.add(Group.objects.get(name="Publishers"))
    release = checked(service, ada)
    shown = board_digest(release)
    decisions.publish(release, ada, "", shown, emergency_reason=" The price is wrong. ")
    work(release, clock)
    assert release.state == ReleaseState.FINISHED
    assert Operation.objects.get().emergency_reason == "The price is wrong."


def test_an_emergency_ends_with_the_role_of_administrator(
    service: PublishingAudiences, rule: ApprovalRule, ada: User, clock: Clock
) -> None:
    ada.groups.add(Group.objects.get(name="Publishers"))
    release = checked(service, ada)
    decisions.publish(release, ada, "", board_digest(release), emergency_reason="Wrong price")
    ada.groups.remove(Group.objects.get(name="Administrators"))
    # It is tried again every five seconds.
    work(release, clock, minutes=0.5)
    item = release.items.get()
    assert "ada may not publish without an approval." in item.reason + release.hold_reason
    assert service.sent == []


def test_no_one_else_publishes_in_an_emergency(
    service: PublishingAudiences, rule: ApprovalRule, paula: User
) -> None:
    release = checked(service, paula)
    with pytest.raises(ReleaseError, match="Only administrators"):
        decisions.publish(release, paula, "", board_digest(release), emergency_reason="Now")


@pytest.mark.parametrize("covered", [True, False])
def test_rolling_back_has_its_own_switch(
    service: PublishingAudiences, paula: User, clock: Clock, covered: bool
) -> None:
    release = checked(service, paula)
    decide(release, paula)
    work(release, clock)
    new_rule(covers_publishing=True, covers_rollbacks=covered)
    rollback, _ = next_drafts.roll_back(release, paula)
    check_release(rollback)
    if covered:
        with pytest.raises(ReleaseError, match="needs the approval"):
            decide(rollback, paula)
        return
    rollback.refresh_from_db()
    decisions.publish(rollback, paula, "1", board_digest(rollback))
    work(rollback, clock)
    assert (rollback.state, len(service.sent)) == (ReleaseState.FINISHED, 2)


def test_an_earlier_version_that_was_never_live_is_no_roll_back(
    service: PublishingAudiences, paula: User
) -> None:
    new_rule(covers_publishing=True)
    [key] = service.add(publishedVersion=None, page_id="page_0")
    service.change(key, publishedVersion=service.live(key, 3))
    service.record()
    operation, attempt = begin_publish(
        PublishTarget(*key, "ver_aud_1_2"),
        operation_key="key",
        version=None,
        audience_name="",
        actor=paula,
    )
    assert attempt
    assert send(operation, attempt).refusal == "It needs the approval of another person."


def test_an_unknown_outcome_is_retried_by_the_same_approval(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = approve(ask(), peter)
    work(release, clock)
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    service.way = accepts
    operation, review = review_again(operation)
    assert resend(operation, actor=paula, digest=review.digest).outcome == Outcome.ACCEPTED


def test_an_unknown_outcome_is_not_retried_once_something_changed(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = approve(ask(), peter)
    work(release, clock)
    latest(service, supplementaryContext="Another")
    sent = len(service.sent)
    operation, review = review_again(Operation.objects.get())
    assert resend(operation, actor=paula, digest=review.digest).outcome == Outcome.UNKNOWN
    assert len(service.sent) == sent


def test_an_approval_is_used_once(
    ask: Ask, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    request = ask()
    release = approve(request, peter)
    work(release, clock)
    item = release.items.get()
    service.change(
        KEY, latestVersion=service.version(KEY, 2), publishedVersion=service.live(KEY, 1)
    )
    review = review_publish(PublishTarget(*KEY, item.version_id), with_conversation=True)
    assert review.digest == item.digest
    operation, attempt = begin_publish(
        review.target,
        operation_key="another",
        version=review.snapshot.version,
        audience_name="",
        actor=paula,
        clearance=Clearance(request, review.digest),
    )
    assert attempt
    assert "already sent by this approval" in send(operation, attempt).refusal


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_of_eight_decisions_on_a_request_at_the_same_moment_one_succeeds(
    ask: Ask, paula: User, peter: User
) -> None:
    request, start = ask(), Barrier(8)
    decide_by: list[Callable[[ApprovalRequest], object]] = [
        lambda it: approve(it, peter),
        lambda it: decline(it, peter),
        lambda it: approving.withdraw(it, paula),
    ]
    opened = [ApprovalRequest.objects.get(pk=request.pk) for _ in range(8)]

    def decide(number: int) -> bool:
        start.wait(60)
        try:
            decide_by[number % 3](opened[number])
        except (ApprovalError, ReleaseError, OperationalError):
            # A second writer of SQLite in memory is refused at once.
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(decide, range(8))) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_what_is_edited_at_the_moment_of_the_approval_is_not_approved(
    ask: Ask, paula: User, peter: User
) -> None:
    request, start = ask(2), Barrier(8)
    release = request.releases.get()
    do: list[Callable[[], object]] = [
        lambda: approve(ApprovalRequest.objects.get(pk=request.pk), peter),
        lambda: drafting.set_name_and_note(Release.objects.get(pk=release.pk), "Name", "Other"),
        lambda: drafting.remove_item(release.items.all()[0]),
        lambda: drafting.move_item(release.items.all()[1], -1),
    ]

    def run(number: int) -> None:
        start.wait(60)
        try:
            do[number % 4]()
        except (ApprovalError, ReleaseError, OperationalError):
            pass  # A second writer of SQLite in memory is refused at once.
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(8)))
    release.refresh_from_db()
    assert subject_of(release) == request.subject
    assert state_of(request) in (RequestState.OPEN, RequestState.APPROVED)
