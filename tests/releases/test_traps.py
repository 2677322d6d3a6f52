"""Ten ways to publish what was not decided, each tried with a small real service over HTTP."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from dashboard.releases import decisions, next_drafts
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import HoldKind, ItemState, ReleaseState
from dashboard.releases.worker import run_pending
from dashboard.service.client import close_publishing_client
from tests.releases.conftest import Story
from tests.support.clock import Clock
from tests.support.dashboards import over_http
from tests.support.many_audiences import Key
from tests.support.release_service import (
    KilledError,
    PublishingAudiences,
    accepts,
    responds,
    schedule,
    states,
)

LIVE, FAILED = ItemState.LIVE, ItemState.FAILED
WAITING, UNKNOWN = ItemState.WAITING, ItemState.UNKNOWN


class SmallService(PublishingAudiences):
    """Can go silent: it then closes connections without a response."""

    is_silent = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_silent:
            raise httpx.ReadError("silent", request=request)
        return super().__call__(request)


@pytest.fixture
def service(db: None, settings: Any, clock: Clock) -> Iterator[SmallService]:
    """A service on a port of this machine."""
    service = SmallService()
    with over_http(service) as url:
        settings.SERVICE_TRANSPORT = None
        settings.SERVICE_URL, settings.SERVICE_API_KEY = url, "a-key-of-the-tests"
        yield service
        close_publishing_client()


@contextmanager
def during_publish(audience_id: str, do: Callable[[], object]) -> Iterator[None]:
    """Call `do` after the response to a publish has arrived and before it is recorded."""

    def watch(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith("POST") and f"/{audience_id}/" in message:
            do()
        return True

    log = logging.getLogger("dashboard.client")
    log.addFilter(watch)
    try:
        yield
    finally:
        log.removeFilter(watch)


def test_changed_after_the_review(story: Story) -> None:
    release = story.publish(3)
    story.service.edit(("page_0", "aud_2"))
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.CHANGED)
    assert states(release) == [WAITING, ItemState.HELD, WAITING]
    assert release.hold_reason == (
        "Name of aud_2: Version 3 was created after you reviewed version 2. Nothing was sent."
    )
    assert not story.service.sent


def test_changed_after_it_was_scheduled(story: Story) -> None:
    release = schedule(story.publish(3))
    story.clock.advance(1800)
    story.service.edit(("page_0", "aud_3"))
    story.work(release, minutes=31)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.CHANGED)
    assert not story.service.sent


@pytest.mark.parametrize(("minutes_late", "count"), [(14, 2), (16, 0)])
def test_due_while_no_worker_ran(story: Story, minutes_late: int, count: int) -> None:
    release = schedule(story.publish(2))
    story.clock.advance(3600 + minutes_late * 60)
    story.work(release)
    assert len(story.service.sent) == count
    if count:
        assert release.state == ReleaseState.FINISHED
    else:
        assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
        sentence = "It was due 16 min before a worker could start it. Nothing was sent."
        assert release.hold_reason == sentence


def test_killed_in_the_middle(story: Story) -> None:
    def kill() -> None:
        raise KilledError

    release = story.publish(5)
    with during_publish("aud_3", kill), pytest.raises(KilledError):
        story.work(release)
    story.work(release, worker_id="another")
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 5)
    assert story.service.audiences_sent == [f"aud_{number}" for number in range(1, 6)]


def test_a_third_is_rejected(story: Story) -> None:
    for number in (1, 4, 7):
        story.service.ways[f"aud_{number}"] = responds(422, "Not like this")
    release = story.publish(9)
    story.work(release)
    assert release.state == ReleaseState.FINISHED
    assert states(release) == [FAILED, LIVE, LIVE] * 3
    reason = release.items.values_list("reason", flat=True)[0]
    assert reason == "The service returned 422: Not like this."


@pytest.mark.django_db(
    transaction=True, serialized_rollback=True
)  # Calls in threads record the outage.
def test_the_service_falls_silent_in_the_middle(story: Story) -> None:
    def fall_silent(_: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        story.service.is_silent = True
        return accepts(story.service, key, version_id)

    story.service.ways["aud_3"] = fall_silent
    release = story.publish(6)
    story.work(release, minutes=2)
    # One call meets the silence. Before the next one, the worker reads the service.
    assert (release.state, states(release)[3:]) == (ReleaseState.RUNNING, [UNKNOWN, *[WAITING] * 2])
    assert release.pause_reason
    story.service.is_silent = False
    cache.clear()  # Close the circuit.
    story.work(release)
    assert release.state == ReleaseState.FINISHED
    assert states(release) == [LIVE, LIVE, LIVE, UNKNOWN, LIVE, LIVE]
    assert max(story.service.carried_out.values()) == 1


@pytest.mark.parametrize("seconds", [1, 61, 90])
def test_two_workers_at_once(story: Story, seconds: int) -> None:
    def go_on_with_another_worker() -> None:
        # The claim is active, has just ended, or has ended together with the call's time limit.
        story.clock.advance(seconds)
        run_pending("another")

    release = story.publish(6)
    with during_publish("aud_3", go_on_with_another_worker):
        story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 6)
    assert story.service.audiences_sent == [f"aud_{number}" for number in range(1, 7)]
    assert len(set(story.service.operation_keys)) == 6


def test_stop_while_a_call_is_under_way(story: Story, ada: User) -> None:
    release = story.publish(4)
    with during_publish("aud_2", lambda: decisions.stop(release, ada)):
        story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.STOPPED)
    assert states(release) == [LIVE, LIVE, WAITING, WAITING]
    assert release.hold_reason == "ada stopped it. 2 versions were sent before."


def test_rolled_back_while_it_still_runs(story: Story, paula: User) -> None:
    story.service.is_fast = False
    release = story.publish(3)
    story.work(release, minutes=1)
    with pytest.raises(ReleaseError, match="still being published"):
        next_drafts.roll_back(release, paula)
    story.service.all_go_live()
    story.work(release, minutes=1)
    rollback, left_out = next_drafts.roll_back(release, paula)
    assert (rollback.items.count(), left_out) == (3, [])


def test_the_owner_lost_the_right_since(story: Story, paula: User) -> None:
    release = schedule(story.publish(2))
    paula.groups.clear()
    story.work(release, minutes=61)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.NOT_ALLOWED)
    assert not story.service.sent
