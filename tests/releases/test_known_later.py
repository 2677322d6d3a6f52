"""An unknown outcome that becomes known after its release has ended changes the item's state."""

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult, end, settle
from dashboard.operations.checking import check_outcome
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.releases import next_drafts
from dashboard.releases.checking import check_release
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.worker import RELEASE_TASKS, RUN_RELEASES, Schedule, run_pending
from tests.releases.conftest import Story
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.many_audiences import Key
from tests.support.release_service import (
    PublishingAudiences,
    accepts,
    decide,
    fails,
    responds,
    states,
    work,
)


@pytest.fixture
def service(db: None, fake_service: FakeService) -> PublishingAudiences:
    """A service that queues published versions."""
    fake_service.answer = service = PublishingAudiences(is_fast=False)
    return service


def go_live(service: PublishingAudiences, key: Key) -> None:
    service.go_live(key, f"ver_{key[1]}_2")
    service.record()


def work_for_half_an_hour(release: Release, clock: Clock) -> None:
    """Run a worker, stop it for half an hour, and run it again."""
    work(release, clock, minutes=1)
    assert states(release) == [ItemState.IN_PROGRESS]
    clock.advance(POLLING_PERIOD.total_seconds())
    work(release, clock, minutes=1)


def test_a_version_live_after_half_an_hour_rolls_back(story: Story, paula: User) -> None:
    release = story.publish(1)
    work_for_half_an_hour(release, story.clock)
    assert states(release) == [ItemState.UNKNOWN]
    go_live(story.service, story.service.sent[0][0])
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.LIVE])
    assert next_drafts.roll_back(release, paula)[1] == []


@pytest.mark.parametrize(
    ("is_live", "state"), [(True, ItemState.LIVE), (False, ItemState.IN_PROGRESS)]
)
def test_a_check_that_settles_an_operation_settles_its_item(
    story: Story, is_live: bool, state: ItemState
) -> None:
    story.service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = story.publish(1)
    story.work(release, minutes=3)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.UNKNOWN])
    [(key, _)] = story.service.sent
    story.service.carry_out(key, f"ver_{key[1]}_2")
    if is_live:
        story.service.go_live(key, f"ver_{key[1]}_2")
    check_outcome(Operation.objects.get())
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [state])
    go_live(story.service, key)
    story.work(release, minutes=1)
    assert states(release) == [ItemState.LIVE]
    assert release.wake_at is None


def test_a_rejected_operation_can_be_retried_in_a_release(story: Story, paula: User) -> None:
    story.service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = story.publish(1)
    story.work(release, minutes=3)
    settle(Operation.objects.get(), Outcome.REJECTED, detail="the service rejected the retry")
    story.work(release, minutes=1)
    assert states(release) == [ItemState.FAILED]
    retry, left_out = next_drafts.retry_failed(release, paula)
    assert (retry.items.count(), left_out) == (1, [])


def test_a_failed_version_made_live_by_retry_rolls_back(story: Story, paula: User) -> None:
    story.service.way = responds(409, "It is locked.")
    release = story.publish(1)
    story.work(release, minutes=3)
    assert states(release) == [ItemState.FAILED]
    story.service.way, story.service.is_fast = accepts, True
    retry, _ = next_drafts.retry_failed(release, paula)
    check_release(retry)
    decide(retry, paula)
    story.work(retry, minutes=3)
    assert states(retry) == [ItemState.LIVE]
    worker = Schedule("worker", RELEASE_TASKS)
    assert RUN_RELEASES in worker.check()[0]
    run_pending("worker")
    assert states(release) == [ItemState.LIVE]
    assert next_drafts.roll_back(release, paula)[1] == []


def test_a_held_version_live_elsewhere_needs_nothing(story: Story, as_publisher: Client) -> None:
    release = story.publish(2)
    story.service.edit(("page_0", "aud_2"))
    story.work(release)
    assert release.state == ReleaseState.HELD
    for audience_id in ("aud_1", "aud_2"):
        go_live(story.service, ("page_0", audience_id))
    assert RUN_RELEASES in Schedule("worker", RELEASE_TASKS).check()[0]
    story.work(release)
    assert states(release) == [ItemState.WAITING, ItemState.CANCELED]
    page = as_publisher.get(f"/releases/{release.pk}/?item={release.items.all()[1].pk}")
    assert "This version is live: it was published elsewhere." in response_text(page)


def test_a_held_release_ends_when_nothing_is_left(story: Story) -> None:
    release = story.publish(1)
    story.service.edit(("page_0", "aud_1"))
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.HELD, [ItemState.HELD])
    go_live(story.service, ("page_0", "aud_1"))
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.CANCELED, [ItemState.CANCELED])


@pytest.mark.parametrize(
    "result",
    [
        AttemptResult(Outcome.NOT_SENT, "Suspended."),
        AttemptResult(Outcome.REJECTED, "Suspended.", status_code=429),
    ],
)
@pytest.mark.parametrize(
    ("release_state", "state"),
    [
        (ReleaseState.FINISHED, ItemState.FAILED),
        (ReleaseState.HELD, ItemState.WAITING),
        (ReleaseState.RUNNING, ItemState.LIVE),
    ],
)
def test_an_unsent_unknown_item_can_be_sent(
    story: Story, *, result: AttemptResult, release_state: ReleaseState, state: ItemState
) -> None:
    story.service.way, story.service.is_fast = fails(httpx.ReadTimeout, is_carried_out=False), True
    release = story.publish(1)
    story.work(release, minutes=3)
    Release.objects.filter(pk=release.pk).update(state=release_state, active_at=timezone.now())
    story.service.way = accepts
    # A suspended process continues.
    attempt = Operation.objects.get().attempts.get()
    Attempt.objects.update(outcome=Outcome.SENDING)
    assert end(attempt, result).outcome == result.outcome
    story.work(release, minutes=1)
    assert states(release) == [state]
    assert release.wake_at is None


def test_sent_items_are_followed_while_others_wait(story: Story) -> None:
    release = story.publish(2)
    run_pending("worker")
    sent = release.items.get(audience_id=story.service.sent[0][0][1])
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.WAITING_FOR_APPROVAL, needs_check=False
    )
    go_live(story.service, story.service.sent[0][0])
    story.clock.advance(10)
    run_pending("worker")
    sent.refresh_from_db()
    assert sent.state == ItemState.LIVE


def test_an_item_unknown_for_good_costs_no_calls(story: Story) -> None:
    release = story.publish(1)
    work_for_half_an_hour(release, story.clock)
    story.service.paths.clear()
    story.work(release, minutes=60)
    assert (story.service.paths, release.wake_at) == ([], None)
