"""What becomes known of an unknown outcome after its release has ended changes the item's state."""

import httpx
import pytest
from django.contrib.auth.models import User

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import settle
from dashboard.operations.checking import check_outcome
from dashboard.releases import next_drafts
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.worker import run_pending
from tests.releases.conftest import Publish
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences, fails, states, work


@pytest.fixture
def service(db: None, fake_service: FakeService) -> PublishingAudiences:
    """A service that queues what is published."""
    fake_service.answer = service = PublishingAudiences(is_fast=False)
    return service


def go_live(service: PublishingAudiences, key: Key) -> None:
    service.go_live(key, f"ver_{key[1]}_2")
    service.record()


def test_a_version_live_after_half_an_hour_can_be_rolled_back(
    publish: Publish, service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    release = publish(1)
    work(release, clock, minutes=35)
    assert states(release) == [ItemState.UNKNOWN]
    go_live(service, service.sent[0][0])
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.LIVE])
    assert next_drafts.roll_back(release, paula)[1] == []


@pytest.mark.parametrize(
    ("is_live", "state"), [(True, ItemState.LIVE), (False, ItemState.IN_PROGRESS)]
)
def test_a_check_that_settles_an_operation_settles_its_item(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    is_live: bool,
    state: ItemState,
) -> None:
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = publish(1)
    work(release, clock, minutes=3)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.UNKNOWN])
    [(key, _)] = service.sent
    service.carry_out(key, f"ver_{key[1]}_2")
    if is_live:
        service.go_live(key, f"ver_{key[1]}_2")
    check_outcome(Operation.objects.get())
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [state])
    go_live(service, key)
    work(release, clock, minutes=1)
    assert states(release) == [ItemState.LIVE]
    assert release.wake_at is None


def test_an_operation_found_rejected_can_be_retried_in_a_release(
    publish: Publish, service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    release = publish(1)
    work(release, clock, minutes=3)
    settle(Operation.objects.get(), Outcome.REJECTED, found="the service rejected the retry")
    work(release, clock, minutes=1)
    assert states(release) == [ItemState.FAILED]
    retry, left_out = next_drafts.retry_failed(release, paula)
    assert (retry.items.count(), left_out) == (1, [])


def test_what_was_sent_is_followed_while_the_rest_waits_for_approval(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(2)
    run_pending("worker")
    sent = release.items.get(audience_id=service.sent[0][0][1])
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.WAITING_FOR_APPROVAL, needs_check=False
    )
    go_live(service, service.sent[0][0])
    clock.advance(10)
    run_pending("worker")
    sent.refresh_from_db()
    assert sent.state == ItemState.LIVE


def test_an_item_unknown_for_good_costs_no_calls(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(1)
    work(release, clock, minutes=35)
    service.paths.clear()
    work(release, clock, minutes=60)
    assert (service.paths, release.wake_at) == ([], None)
