"""A release that needs another person's approval is sent exactly as approved, or not at all."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, User
from django.utils import timezone

from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.approvals.requests import ApprovalError
from dashboard.approvals.rule import current_rule
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import Clearance
from dashboard.notifications.models import Notification
from dashboard.notifications.recipients import notify_pending
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish import begin_publish
from dashboard.operations.publish_review import review_publish
from dashboard.releases import approval_requests, decisions, drafting, next_drafts
from dashboard.releases.approval_subjects import subject_of
from dashboard.releases.checking import check_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.schedules import parse_moment
from tests.support.at_once import at_once
from tests.support.clock import Clock
from tests.support.release_service import (
    PublishingAudiences,
    accepts,
    checked_release,
    decide,
    schedule,
    states,
    work,
)
from tests.support.seeding import seed_rule

HELD, FINISHED = ReleaseState.HELD, ReleaseState.FINISHED


@pytest.fixture
def rule(db: None) -> ApprovalRule:
    """Publishing needs an approval; rolling back does not."""
    return seed_rule(covers_publishing=True)


@dataclass
class Story:
    """Paula requests approval of releases, and Peter, another publisher, decides."""

    service: PublishingAudiences
    paula: User
    peter: User
    clock: Clock

    def ask(self, count: int = 1, *, hours: int = 0) -> ApprovalRequest:
        """Request approval of a checked release of `count` new audiences."""
        release = checked(self.service, self.paula, count)
        moment = in_hours(hours) if hours else None
        return approval_requests.request_approval(
            release, self.paula, "", board_digest(release), moment=moment
        )

    def approve(self, approval: ApprovalRequest, user: User | None = None) -> Release:
        user = user or self.peter
        approval_requests.approve(approval, user, note="", displayed_digest=approval.digest)
        return approval.releases.get()

    def decline(self, approval: ApprovalRequest) -> None:
        approval_requests.decline(
            approval, self.peter, note="Not yet", displayed_digest=approval.digest
        )

    def work(self, release: Release, minutes: float = 5) -> None:
        work(release, self.clock, minutes=minutes)


@pytest.fixture
def story(
    service: PublishingAudiences, rule: ApprovalRule, paula: User, peter: User, clock: Clock
) -> Story:
    """A story with the rule that publishing needs an approval."""
    return Story(service, paula, peter, clock)


def checked(service: PublishingAudiences, user: User, count: int = 1) -> Release:
    keys = service.add(count, page_id=f"page_{len(service.pages)}")
    return checked_release(keys, user, note="For Monday")


def ask_for(
    service: PublishingAudiences, user: User, keys: list[tuple[str, str]]
) -> ApprovalRequest:
    """Request approval of a checked release of these audiences, in this order."""
    release = checked_release(keys, user)
    return approval_requests.request_approval(release, user, "", board_digest(release))


def in_hours(hours: int) -> Any:
    due = timezone.now() + timedelta(hours=hours)
    return parse_moment(f"{due:%Y-%m-%d}", f"{due:%H:%M}", "UTC", now=timezone.now())


def state_of(approval: ApprovalRequest) -> RequestState:
    approval.refresh_from_db()
    return RequestState(approval.state)


def test_an_approved_release_is_sent_for_its_requester(story: Story) -> None:
    approval = story.ask(2)
    release = story.approve(approval)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.LIVE] * 2)
    sent = Operation.objects.values_list("actor_name", "approval", "outcome")
    assert set(sent) == {("paula", approval.pk, Outcome.ACCEPTED)}


def test_nothing_is_sent_before_approval(story: Story) -> None:
    release = story.ask(2).releases.get()
    story.work(release, minutes=60)
    assert (release.state, story.service.sent) == (ReleaseState.WAITING_FOR_APPROVAL, [])


def test_an_approved_release_with_a_time_is_sent_then(story: Story) -> None:
    release = story.approve(story.ask(hours=3))
    story.work(release, minutes=179)
    assert (release.state, story.service.sent) == (ReleaseState.SCHEDULED, [])
    story.work(release, minutes=2)
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


@pytest.mark.matrix
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("before_approval", [True, False])
def test_any_change_voids_the_approval_and_is_named(
    story: Story, *, change: str, before_approval: bool
) -> None:
    what, make = CHANGES[change]
    approval = story.ask(2, hours=1)
    if before_approval:
        make(story.service)
    release = story.approve(approval)
    if not before_approval:
        make(story.service)
    story.work(release, minutes=90)
    assert (release.state, state_of(approval)) == (HELD, RequestState.VOID)
    assert story.service.sent == []
    assert what in {difference["what"] for difference in approval.differences}
    assert all(difference["then"] != difference["now"] for difference in approval.differences)
    assert approval.end_reason in release.hold_reason


@pytest.mark.parametrize("change", ["note", "order", "items", "version"])
def test_a_release_that_differs_from_the_approved_is_held(story: Story, change: str) -> None:
    approval = story.ask(3, hours=1)
    release = story.approve(approval)
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
    story.work(release, minutes=90)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(approval), story.service.sent) == (RequestState.VOID, [])


def test_a_change_between_items_voids_the_approval(story: Story) -> None:
    def pause_once(service: PublishingAudiences, *_: object) -> httpx.Response:
        del service.ways["aud_2"]
        service.edit(("page_0", "aud_3"))
        return httpx.Response(429, headers={"retry-after": "30"})

    story.service.ways["aud_2"] = pause_once
    approval = story.ask(3)
    release = story.approve(approval)
    story.work(release)
    assert (release.state, state_of(approval)) == (HELD, RequestState.VOID)
    assert states(release) == [ItemState.LIVE, ItemState.WAITING, ItemState.HELD]


@pytest.mark.matrix
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_approved", [True, False])
def test_a_version_is_fully_checked_before_it_is_sent(
    story: Story, *, change: str, is_approved: bool
) -> None:
    def is_slow(service: PublishingAudiences, key: Any, version_id: str) -> httpx.Response:
        # The next version changes after the first check, while this one is being published.
        story.clock.advance(3)
        CHANGES[change][1](service)
        return accepts(service, key, version_id)

    story.service.add(1, page_id="page_0")
    story.service.add(1, page_id="page_1")
    story.service.ways["aud_2"] = is_slow
    approval = ask_for(story.service, story.paula, [("page_1", "aud_2"), KEY])
    if is_approved:
        release = story.approve(approval)
    else:
        approval_requests.withdraw(approval, story.paula)
        seed_rule()
        release = approval.releases.get()
        check_release(release)
        decide(release, story.paula)
    story.work(release)
    assert (release.state, story.service.audiences_sent) == (HELD, ["aud_2"])


def test_a_recent_check_is_not_repeated(story: Story) -> None:
    def takes_a_second(*args: Any) -> httpx.Response:
        story.clock.advance(1)
        return accepts(*args)

    story.service.way = takes_a_second
    release = story.approve(story.ask(9))
    story.service.paths.clear()
    story.work(release, minutes=0.5)
    assert len(story.service.sent) == 9
    conversations = sum(path.endswith("/messages") for path in story.service.paths)
    # Nine at first. Then every three seconds as many as are sent in three seconds.
    assert conversations == 9 + 3 + 3


MOVES: dict[str, Callable[[Release, User], object]] = {
    "rescheduled": lambda it, user: decisions.reschedule(it, user, in_hours(1)),
    "requested again": lambda it, user: approval_requests.request_approval(
        it, user, "", board_digest(it)
    ),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("who", ["paula", "peter"])
def test_another_time_needs_another_approval(story: Story, *, move: str, who: str) -> None:
    first = story.ask(hours=72)
    release = story.approve(first)
    MOVES[move](release, {"paula": story.paula, "peter": story.peter}[who])
    assert state_of(first) == RequestState.VOID
    [difference] = first.differences
    assert (difference["what"], difference["now"] != difference["then"]) == ("Time", True)
    notify_pending("worker")
    notifications = Notification.objects.filter(event__kind="approval_void")
    assert {notification.user for notification in notifications} == {story.paula, story.peter}
    assert notifications[0].event.facts["became"] == "is void, changed: Time"
    release.refresh_from_db()
    second = release.approval
    assert second
    assert (second.state, second.requested_by_name) == (RequestState.OPEN, who)
    story.work(release, minutes=80 * 60)
    assert (release.state != FINISHED, story.service.sent) == (True, [])


def test_a_scheduled_approval_is_not_published_now(story: Story) -> None:
    approval = story.ask(hours=72)
    release = story.approve(approval)
    with pytest.raises(ReleaseError, match="approved for another time"):
        decide(release, story.paula)
    Release.objects.filter(pk=release.pk).update(due_at=timezone.now(), wake_at=timezone.now())
    story.work(release)
    assert (release.state, state_of(approval)) == (HELD, RequestState.VOID)
    assert story.service.sent == []


def test_the_same_moment_in_another_zone_stays_approved(story: Story) -> None:
    approval = story.ask(hours=3)
    release = story.approve(approval)
    local = release.due_at.astimezone(ZoneInfo("Asia/Tokyo")) if release.due_at else None
    moment = parse_moment(f"{local:%Y-%m-%d}", f"{local:%H:%M}", "Asia/Tokyo", now=timezone.now())
    assert decisions.reschedule(release, story.paula, moment) is None
    story.work(release, minutes=181)
    assert (release.state, state_of(approval)) == (ReleaseState.FINISHED, RequestState.APPROVED)


def test_without_a_rule_another_time_voids_a_voluntary_approval(story: Story) -> None:
    approval = story.ask(hours=72)
    release = story.approve(approval)
    seed_rule()
    assert decisions.reschedule(release, story.paula, in_hours(1)) is None
    assert state_of(approval) == RequestState.VOID
    story.work(release, minutes=61)
    assert (release.state, len(story.service.sent)) == (ReleaseState.FINISHED, 1)


@pytest.mark.parametrize("is_approved", [True, False])
def test_publishing_the_others_is_part_of_the_approval(story: Story, *, is_approved: bool) -> None:
    release = checked(story.service, story.paula, 3)
    approval = approval_requests.request_approval(
        release, story.paula, "", board_digest(release), publishes_others=is_approved
    )
    release = story.approve(approval)
    if not is_approved:
        Release.objects.filter(pk=release.pk).update(publishes_others=True)
    story.service.pending[("page_0", "aud_2")] = ["change_1"]
    story.work(release)
    if is_approved:
        assert (release.state, story.service.audiences_sent) == (FINISHED, ["aud_1", "aud_3"])
        assert state_of(approval) == RequestState.APPROVED
    else:
        assert (release.state, story.service.sent, state_of(approval)) == (
            HELD,
            [],
            RequestState.VOID,
        )


def test_an_approval_without_the_option_does_not_continue(story: Story) -> None:
    release = story.approve(story.ask(3))
    decisions.stop(release, story.paula)
    story.work(release)
    with pytest.raises(ReleaseError, match="another choice"):
        decide(release, story.paula, publishes_others=True)
    assert story.service.sent == []


def test_what_was_approved_can_no_longer_be_edited(story: Story) -> None:
    release = story.ask(2).releases.get()
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
    story: Story, *, make: Callable[[User, User], None], when: str
) -> None:
    approval = story.ask(hours=1)
    if when == "before":
        make(story.paula, story.peter)
        with pytest.raises(ApprovalError):
            story.approve(approval, User.objects.get(pk=story.peter.pk))
        assert state_of(approval) == RequestState.OPEN
        return
    release = story.approve(approval)
    make(story.paula, story.peter)
    story.work(release, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(approval), story.service.sent) == (RequestState.VOID, [])


@pytest.mark.parametrize("who", ["requester", "approver"])
def test_a_deleted_account_voids_the_approval(story: Story, *, who: str) -> None:
    approval = story.ask(hours=1)
    release = story.approve(approval)
    {"requester": story.paula, "approver": story.peter}[who].delete()
    story.work(release, minutes=61)
    assert (release.state, story.service.sent) == (HELD, [])
    assert "no longer exists" in release.hold_reason


@pytest.mark.parametrize("first", ["approve", "decline", "withdraw"])
@pytest.mark.parametrize("second", ["approve", "decline", "withdraw"])
def test_a_request_is_decided_once(story: Story, *, first: str, second: str) -> None:
    decide_by: dict[str, Callable[[ApprovalRequest], object]] = {
        "approve": story.approve,
        "decline": story.decline,
        "withdraw": lambda it: approval_requests.withdraw(it, story.paula),
    }
    approval = story.ask()
    other_page = ApprovalRequest.objects.get(pk=approval.pk)
    decide_by[first](approval)
    state = state_of(approval)
    with pytest.raises(ApprovalError, match="Nothing was changed"):
        decide_by[second](other_page)
    assert state_of(approval) == state


@pytest.mark.parametrize("end", ["decline", "withdraw"])
def test_what_is_not_approved_is_a_draft_again(story: Story, end: str) -> None:
    approval = story.ask(2)
    if end == "decline":
        story.decline(approval)
    else:
        approval_requests.withdraw(approval, story.paula)
    release = approval.releases.get()
    assert (release.state, release.needs_check) == (ReleaseState.DRAFT, True)
    with pytest.raises(ReleaseError, match="Not sent"):
        decide(release, story.paula)


def test_only_what_was_shown_is_approved(story: Story) -> None:
    approval = story.ask()
    with pytest.raises(ApprovalError, match="Review it again"):
        approval_requests.approve(
            approval, story.peter, note="", displayed_digest="of another request"
        )
    assert state_of(approval) == RequestState.OPEN


def test_a_request_expires(story: Story) -> None:
    approval = story.ask()
    story.clock.advance(current_rule().days * 86_400)
    with pytest.raises(ApprovalError, match="expired"):
        story.approve(approval)
    release = approval.releases.get()
    story.work(release)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(approval), story.service.sent) == (RequestState.EXPIRED, [])


def test_a_release_due_before_approval_is_held(story: Story) -> None:
    approval = story.ask(hours=1)
    release = approval.releases.get()
    story.work(release, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert (state_of(approval), story.service.sent) == (RequestState.EXPIRED, [])


def test_a_held_release_can_be_requested_again(story: Story) -> None:
    first = story.ask(2)
    story.service.pending[KEY] = ["change_1"]
    release = story.approve(first)
    story.work(release)
    assert release.state == HELD
    check_release(release)
    again = approval_requests.request_approval(release, story.paula, "2", board_digest(release))
    release = story.approve(again)
    story.work(release)
    assert (release.state, len(story.service.sent)) == (ReleaseState.FINISHED, 2)


def test_turning_the_rule_on_holds_unapproved_schedules(
    service: PublishingAudiences, paula: User, ada: User, clock: Clock
) -> None:
    release = schedule(checked(service, paula))
    assert approval_requests.change_rule(ada, ApprovalRule(covers_publishing=True)) == [release]
    work(release, clock, minutes=61)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert service.sent == []


def test_a_running_release_is_held_by_a_new_rule(
    service: PublishingAudiences, paula: User, ada: User, clock: Clock
) -> None:
    release = checked(service, paula, 2)
    decide(release, paula)
    approval_requests.change_rule(ada, ApprovalRule(covers_publishing=True))
    work(release, clock)
    assert (release.state, release.hold_kind) == (HELD, HoldKind.NOT_APPROVED)
    assert service.sent == []


def test_an_approved_schedule_survives_a_rule_change(story: Story, ada: User) -> None:
    story.approve(story.ask(hours=1))
    assert approval_requests.change_rule(ada, ApprovalRule(covers_publishing=True, days=3)) == []


DECISIONS: dict[str, Callable[[Release, User], None]] = {
    "publish": lambda it, user: decisions.publish(it, user, "", board_digest(it)),
    "schedule": lambda it, user: decisions.schedule(it, user, in_hours(1), "", board_digest(it)),
    "continue": lambda it, user: decisions.continue_release(it, user, "", board_digest(it)),
}


@pytest.mark.parametrize("how", DECISIONS)
def test_no_decision_replaces_an_approval(story: Story, how: str) -> None:
    release = checked(story.service, story.paula)
    if how == "continue":
        Release.objects.filter(pk=release.pk).update(state=HELD)
    with pytest.raises(ReleaseError, match="needs the approval of another person"):
        DECISIONS[how](release, story.paula)
    assert story.service.sent == []


def test_a_stopped_release_continues_with_its_approval(story: Story) -> None:
    release = story.approve(story.ask(3))
    decisions.stop(release, story.paula)
    story.work(release)
    assert release.state == HELD
    decide(release, story.paula)
    story.work(release)
    assert (release.state, len(story.service.sent)) == (ReleaseState.FINISHED, 3)


def test_a_skipped_item_needs_another_approval(story: Story) -> None:
    release = story.approve(story.ask(3))
    decisions.stop(release, story.paula)
    story.work(release)
    decisions.skip_item(release.items.all()[1], story.paula)
    with pytest.raises(ReleaseError, match="differs from what was approved"):
        decide(release, story.paula)
    assert story.service.sent == []


def test_an_administrator_publishes_alone_with_a_reason(story: Story, ada: User) -> None:
    ada.groups.add(Group.objects.get(name="Publishers"))
    release = checked(story.service, ada)
    digest = board_digest(release)
    decisions.publish(release, ada, "", digest, emergency_reason=" The price is wrong. ")
    story.work(release)
    assert release.state == ReleaseState.FINISHED
    assert Operation.objects.get().emergency_reason == "The price is wrong."


def test_an_emergency_ends_with_the_role_of_administrator(story: Story, ada: User) -> None:
    ada.groups.add(Group.objects.get(name="Publishers"))
    release = checked(story.service, ada)
    decisions.publish(release, ada, "", board_digest(release), emergency_reason="Wrong price")
    ada.groups.remove(Group.objects.get(name="Administrators"))
    # It is retried every five seconds.
    story.work(release, minutes=0.5)
    item = release.items.get()
    assert "ada may not publish without an approval." in item.reason + release.hold_reason
    assert story.service.sent == []


@pytest.mark.parametrize("covered", [True, False])
def test_rolling_back_has_its_own_switch(
    service: PublishingAudiences, paula: User, clock: Clock, covered: bool
) -> None:
    release = checked(service, paula)
    decide(release, paula)
    work(release, clock)
    seed_rule(covers_publishing=True, covers_rollbacks=covered)
    rollback, _ = next_drafts.roll_back(release, paula)
    work(rollback, clock)
    state = ReleaseState.WAITING_FOR_APPROVAL if covered else FINISHED
    assert (rollback.state, len(service.sent)) == (state, 1 if covered else 2)


def test_a_never_live_older_version_is_no_rollback(
    service: PublishingAudiences, paula: User
) -> None:
    seed_rule(covers_publishing=True)
    [key] = service.add(publishedVersion=None, page_id="page_0")
    service.change(key, publishedVersion=service.live(key, 3))
    service.record()
    operation, attempt = begin_publish(
        PublishTarget(*key, "ver_aud_1_2"),
        operation_key="key",
        version=None,
        live=None,
        audience_name="",
        actor=paula,
    )
    assert attempt
    assert send(operation, attempt).refusal == "It needs the approval of another person."


def test_an_approval_is_used_once(story: Story) -> None:
    approval = story.ask()
    release = story.approve(approval)
    story.work(release)
    item = release.items.get()
    story.service.change(
        KEY,
        latestVersion=story.service.version(KEY, 2),
        publishedVersion=story.service.live(KEY, 1),
    )
    review = review_publish(PublishTarget(*KEY, item.version_id), with_conversation=True)
    assert review.digest == item.digest
    operation, attempt = begin_publish(
        review.target,
        operation_key="another",
        version=review.snapshot.version,
        live=review.snapshot.live,
        audience_name="",
        actor=story.paula,
        clearance=Clearance(approval.pk, review.digest),
    )
    assert attempt
    assert "already sent by this approval" in send(operation, attempt).refusal


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_one_of_eight_concurrent_decisions_succeeds(story: Story) -> None:
    approval = story.ask()
    decide_by: list[Callable[[ApprovalRequest], object]] = [
        story.approve,
        story.decline,
        lambda it: approval_requests.withdraw(it, story.paula),
    ]
    opened = [ApprovalRequest.objects.get(pk=approval.pk) for _ in range(8)]

    def decide(number: int) -> bool:
        try:
            decide_by[number % 3](opened[number])
        except (ApprovalError, ReleaseError):
            return False
        return True

    assert sum(at_once(8, decide)) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_edit_during_the_approval_is_not_approved(story: Story) -> None:
    approval = story.ask(2)
    release = approval.releases.get()
    do: list[Callable[[], object]] = [
        lambda: story.approve(ApprovalRequest.objects.get(pk=approval.pk)),
        lambda: drafting.set_name_and_note(Release.objects.get(pk=release.pk), "Name", "Other"),
        lambda: drafting.remove_item(release.items.all()[0]),
        lambda: drafting.move_item(release.items.all()[1], -1),
    ]

    def run(number: int) -> None:
        with suppress(ApprovalError, ReleaseError):
            do[number % 4]()

    at_once(8, run)
    release.refresh_from_db()
    assert subject_of(release) == approval.subject
    assert state_of(approval) in (RequestState.OPEN, RequestState.APPROVED)
