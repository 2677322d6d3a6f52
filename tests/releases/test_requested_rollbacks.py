"""Rolling back under the approval rule: a worker reads all versions, then requests approval."""

import httpx
import pytest
from django.contrib.auth.models import Group, User

from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.rule import subject_digest
from dashboard.notifications.models import Notification
from dashboard.notifications.recipients import notify_pending
from dashboard.releases import approval_requests, decisions, next_drafts
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.running import MAX_READ_IN_A_STEP
from dashboard.releases.worker import claim_due, run_pending, take_step
from tests.releases.conftest import Draft
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.interleaving import KilledError
from tests.support.release_service import PublishingAudiences, states, work
from tests.support.seeding import seed_rule


class Rollback:
    """A rollback that Paula started with one press, and that needs an approval."""

    def __init__(self, draft: Draft, service: PublishingAudiences, user: User, count: int) -> None:
        live = draft(count)
        for key in service.audiences:
            service.go_live(key, f"ver_{key[1]}_2")
        service.record()
        live.items.update(state=ItemState.LIVE)
        Release.objects.update(state=ReleaseState.FINISHED, wake_at=None)
        live.refresh_from_db()
        seed_rule(covers_rollbacks=True)
        self.release, _ = next_drafts.roll_back(live, user, note="Wrong price")

    @property
    def read(self) -> int:
        """Number of items that were read."""
        return self.release.items.exclude(checked_at=None).count()

    def step(self) -> None:
        """Let a worker take one step."""
        claim = claim_due("worker-1", Release.objects.all)
        assert claim
        take_step(claim)
        self.release.refresh_from_db()


def test_one_press_requests_the_approval_of_any_number(
    draft: Draft, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    count = 2 * MAX_READ_IN_A_STEP + 5
    rollback = Rollback(draft, service, paula, count)
    read = []
    while rollback.release.approval is None:
        assert rollback.release.is_unrequested
        assert not ApprovalRequest.objects.exists()
        read.append(rollback.read)
        rollback.step()
    assert read == [0, MAX_READ_IN_A_STEP, 2 * MAX_READ_IN_A_STEP, count]
    notify_pending("worker-1")
    assert Notification.objects.get(event__kind="approval_requested").user == peter
    approval = ApprovalRequest.objects.get()
    assert (approval.requested_by, approval.note) == (paula, "Wrong price")
    digests = [item.digest for item in rollback.release.items.all()]
    assert [item[3] for item in approval.subject["items"]] == digests
    assert all(digests)
    approval_requests.approve(
        approval, peter, note="", displayed_digest=subject_digest(approval.subject)
    )
    work(rollback.release, clock, minutes=30)
    assert states(rollback.release) == [ItemState.LIVE] * count


def test_nothing_is_published_before_all_is_read(
    draft: Draft, service: PublishingAudiences, paula: User
) -> None:
    rollback = Rollback(draft, service, paula, 2).release
    with pytest.raises(ReleaseError, match="waiting for approval"):
        decisions.publish(rollback, paula, "2", board_digest(rollback))
    with pytest.raises(ReleaseError, match="waiting for approval"):
        approval_requests.request_approval(rollback, paula, "2", board_digest(rollback))
    assert service.sent == []


def test_another_worker_continues_after_a_kill(
    draft: Draft, service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    count = MAX_READ_IN_A_STEP + 10
    rollback = Rollback(draft, service, paula, count)
    rollback.step()

    def kill() -> None:
        if service.paths[-1].endswith(f"/aud_{count - 2}/messages"):
            raise KilledError

    service.before = kill
    with pytest.raises(KilledError):
        rollback.step()
    assert rollback.read == MAX_READ_IN_A_STEP
    service.before = lambda: None
    work(rollback.release, clock, minutes=1, worker_id="another")
    assert len(ApprovalRequest.objects.get().subject["items"]) == count


def test_what_changed_or_vanished_meanwhile_is_left_out(
    draft: Draft, service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    rollback = Rollback(draft, service, paula, 4).release
    changed, archived, vanished, same = service.audiences
    newer = service.live(changed, 9)
    service.change(changed, publishedVersion=newer, latestVersion=newer)
    service.change(archived, archivedAt="2026-03-01T00:00:00Z")
    del service.audiences[vanished]
    work(rollback, clock, minutes=1)
    held, waiting = ItemState.HELD, ItemState.WAITING
    assert states(rollback) == [held, waiting, held, waiting]
    reasons = [item.reason for item in rollback.items.filter(state=held)]
    assert reasons[0].startswith("Version 9 went live")
    assert reasons[1].startswith("This audience no longer exists.")
    assert rollback.items.get(audience_id=archived[1]).findings
    subject = ApprovalRequest.objects.get().subject
    assert [item[1] for item in subject["items"]] == [archived[1], same[1]]


def test_what_changes_after_it_was_read_is_not_sent(
    draft: Draft, service: PublishingAudiences, paula: User, peter: User, clock: Clock
) -> None:
    rollback = Rollback(draft, service, paula, MAX_READ_IN_A_STEP + 1)
    rollback.step()
    newer = service.live(("page_1", "aud_1"), 9)
    service.change(("page_1", "aud_1"), publishedVersion=newer, latestVersion=newer)
    work(rollback.release, clock, minutes=1)
    approval = ApprovalRequest.objects.get()
    approval_requests.approve(approval, peter, note="", displayed_digest=approval.digest)
    work(rollback.release, clock, minutes=10)
    assert "aud_1" not in service.audiences_sent
    assert len(service.sent) == MAX_READ_IN_A_STEP


def test_a_rollback_of_which_nothing_is_left_is_held(
    draft: Draft, service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    rollback = Rollback(draft, service, paula, 1).release
    service.audiences.clear()
    work(rollback, clock, minutes=1)
    assert (rollback.state, rollback.hold_kind) == (ReleaseState.HELD, HoldKind.CHANGED)
    assert "No version of it can be rolled back anymore." in rollback.hold_reason
    assert not ApprovalRequest.objects.exists()


def test_the_approval_is_requested_once_the_service_responds(
    draft: Draft, service: PublishingAudiences, paula: User, clock: Clock, fake_service: FakeService
) -> None:
    rollback = Rollback(draft, service, paula, 2).release
    fake_service.fails(httpx.ConnectError)
    work(rollback, clock, minutes=1)
    assert rollback.is_unrequested
    assert "The versions couldn’t be checked." in rollback.pause_reason
    fake_service.answer = service
    work(rollback, clock, minutes=2)
    assert rollback.pause_reason == ""
    assert rollback.approval
    assert rollback.approval.state == RequestState.OPEN


def test_a_rollback_that_is_still_read_can_be_canceled(
    draft: Draft, service: PublishingAudiences, paula: User
) -> None:
    rollback = Rollback(draft, service, paula, 2).release
    decisions.cancel(rollback, paula)
    run_pending("worker-1")
    rollback.refresh_from_db()
    assert rollback.state == ReleaseState.CANCELED
    assert not ApprovalRequest.objects.exists()


def test_no_approval_is_requested_for_a_former_publisher(
    draft: Draft, service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    rollback = Rollback(draft, service, paula, 2).release
    paula.groups.remove(Group.objects.get(name="Publishers"))
    work(rollback, clock, minutes=1)
    assert (rollback.state, rollback.hold_kind) == (ReleaseState.HELD, HoldKind.NOT_ALLOWED)
    assert not ApprovalRequest.objects.exists()
