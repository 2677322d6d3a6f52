"""What a worker does with a release, step by step, with a clock that the test advances."""

from datetime import timedelta
from threading import Event

import httpx
import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.utils import timezone

from dashboard.clock import CLAIM
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import publish_key
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import begin_publish
from dashboard.releases import decisions
from dashboard.releases.drafting import create_release
from dashboard.releases.holding import hold_restored
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseState
from dashboard.releases.reviewing import risks
from dashboard.releases.worker import run_pending
from tests.releases.conftest import LOSSES, Story
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.release_service import (
    KilledError,
    PublishingAudiences,
    decide,
    fails,
    kills,
    responds,
    schedule,
    states,
    work,
)

LIVE, FAILED, HELD = ItemState.LIVE, ItemState.FAILED, ItemState.HELD
WAITING, UNKNOWN = ItemState.WAITING, ItemState.UNKNOWN
TAKEOVER_MINUTES = 2 * CLAIM / timedelta(minutes=1)


def reasons(release: Release) -> list[str]:
    return list(release.items.values_list("reason", flat=True))


def test_versions_are_sent_in_order_with_their_keys(story: Story) -> None:
    release = story.publish(3)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)
    assert story.service.audiences_sent == ["aud_1", "aud_2", "aud_3"]
    assert len(set(story.service.operation_keys)) == 3
    assert (
        list(release.items.values_list("operation_key", flat=True)) == story.service.operation_keys
    )
    assert set(Operation.objects.values_list("actor_name", "outcome")) == {("paula", "accepted")}


def test_a_large_check_lets_other_releases_run(story: Story, fake_service: FakeService) -> None:
    story.publish(60)
    story.publish(60)
    story.service.paths.clear()
    stop = Event()

    def answer(request: httpx.Request) -> httpx.Response:
        story.clock.advance(0.01)
        if "/aud_61/" in request.url.path:
            stop.set()
        return story.service(request)

    fake_service.answer = answer
    run_pending("worker", stop)
    assert stop.is_set()
    assert not any("/aud_60/" in path for path in story.service.paths)


def test_all_that_changed_in_a_large_release_is_held(story: Story) -> None:
    release = story.publish(60)
    story.service.edit(("page_0", "aud_2"))
    story.service.edit(("page_0", "aud_60"))
    story.work(release)
    assert (release.state, states(release).count(HELD)) == (ReleaseState.HELD, 2)
    assert not story.service.sent


def test_a_release_is_running_until_everything_is_live(story: Story) -> None:
    story.service.is_fast = False
    release = story.publish(2)
    story.work(release, minutes=1)
    assert (release.state, set(states(release))) == (ReleaseState.RUNNING, {"in_progress"})
    story.service.all_go_live()
    story.work(release, minutes=1)
    assert (release.state, set(states(release))) == (ReleaseState.FINISHED, {LIVE})


def test_the_others_are_sent_on_request(story: Story) -> None:
    release = story.publish(3, publishes_others=True)
    story.service.edit(("page_0", "aud_2"))
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, HELD, LIVE])


@pytest.mark.parametrize(("pages", "after"), [(1, [LIVE, WAITING, HELD]), (3, [LIVE, LIVE, HELD])])
def test_a_version_changed_during_the_release_is_not_sent(
    story: Story, pages: int, after: list[ItemState]
) -> None:
    def pause_once(service: PublishingAudiences, *_: object) -> httpx.Response:
        del service.ways["aud_2"]
        service.edit(list(service.audiences)[-1])
        return httpx.Response(429, headers={"retry-after": "30"})

    release = story.publish(3 // pages, pages=pages)
    story.service.ways["aud_2"] = pause_once
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.HELD, after)
    assert "Version 3 was created" in release.hold_reason


def test_too_many_requests_pause_as_long_as_asked(story: Story) -> None:
    story.service.ways["aud_1"] = responds(429, "Slow down", Retry_After="120")
    release = story.publish(2)
    story.work(release, minutes=1.9)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING, WAITING])
    assert release.pause_reason == "The service returned 429: Slow down."
    del story.service.ways["aud_1"]
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, LIVE])
    assert story.service.audiences_sent == ["aud_1", "aud_1", "aud_2"]
    assert len(set(story.service.operation_keys)) == 3


def test_a_wait_beyond_the_tolerance_holds_the_release(story: Story) -> None:
    story.service.way = responds(429, "Slow down", Retry_After="1200")
    release = story.publish(2)
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
    assert "The service accepts the next publish in 20 min." in release.hold_reason


@pytest.mark.parametrize("way", [fails(httpx.ConnectError, is_carried_out=False), responds(401)])
def test_what_did_not_reach_the_service_is_sent_again(story: Story, way: object) -> None:
    story.service.way = way
    release = story.publish(2)
    story.work(release, minutes=0.2)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING, WAITING])
    story.service.way = PublishingAudiences().way
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, LIVE])
    assert max(story.service.carried_out.values()) == 1


@pytest.mark.parametrize(("is_carried_out", "state"), [(True, LIVE), (False, UNKNOWN)])
def test_a_lost_response_is_checked_and_never_sent_again(
    story: Story, is_carried_out: bool, state: ItemState
) -> None:
    story.service.ways["aud_2"] = fails(httpx.ReadTimeout, is_carried_out=is_carried_out)
    release = story.publish(3)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, state, LIVE])
    assert story.service.audiences_sent == ["aud_1", "aud_2", "aud_3"]


def test_after_an_unknown_outcome_the_next_version_is_checked(story: Story) -> None:
    release = story.publish(4)
    story.service.ways["aud_2"] = fails(httpx.ReadError, is_carried_out=False)
    story.service.paths.clear()
    story.work(release, minutes=1 / 60)
    assert story.service.audiences_sent == ["aud_1", "aud_2", "aud_3", "aud_4"]
    conversations = [path for path in story.service.paths if path.endswith("/messages")]
    # With a stopped clock, a check seems as old as the outcome that follows it.
    assert len(conversations) == 4 + 2 + 1


def test_a_release_finishes_when_everything_is_live(story: Story) -> None:
    release = story.publish(2)
    story.work(release)
    settled = release.items.values_list("settled_at", flat=True)
    assert release.finished_at == max(at for at in settled if at)


def test_three_unknown_outcomes_in_a_row_hold_the_release(story: Story) -> None:
    story.service.way = responds(500)
    release = story.publish(5)
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.SILENT)
    assert states(release) == [UNKNOWN] * 3 + [WAITING] * 2


def test_a_person_may_continue_after_unknown_outcomes(story: Story, paula: User) -> None:
    story.service.way = responds(500)
    release = story.publish(5)
    story.work(release)
    story.service.way = PublishingAudiences().way
    decide(release, paula)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 3 + [LIVE] * 2)


def test_a_silent_service_pauses_the_release(story: Story, fake_service: FakeService) -> None:
    release = story.publish(3)
    fake_service.fails(httpx.ConnectTimeout)
    story.work(release, minutes=10)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING] * 3)
    assert release.pause_reason
    cache.clear()  # The circuit breaker has its own clock.
    fake_service.answer = story.service
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)


def test_a_silent_service_holds_the_release(story: Story, fake_service: FakeService) -> None:
    release = story.publish(3)
    fake_service.fails(httpx.ConnectTimeout)
    story.work(release, minutes=17)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.SILENT)
    assert release.hold_reason.startswith("Nothing could be sent for 15 min.")
    assert release.hold_reason.endswith("Nothing was sent.")
    assert states(release) == [WAITING] * 3


@pytest.mark.parametrize(("is_carried_out", "state"), [(True, LIVE), (False, UNKNOWN)])
def test_a_worker_killed_during_a_call_leaves_it_unknown(
    story: Story, is_carried_out: bool, state: ItemState
) -> None:
    story.service.ways["aud_2"] = kills(is_carried_out=is_carried_out)
    release = story.publish(3)
    with pytest.raises(KilledError):
        story.work(release)
    story.work(release, minutes=TAKEOVER_MINUTES, worker_id="worker-2")
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, state, LIVE])
    assert story.service.audiences_sent == ["aud_1", "aud_2", "aud_3"]


def test_workers_that_are_killed_hold_no_release(story: Story) -> None:
    release = story.publish(6)
    for number in (2, 3, 4):
        story.service.ways[f"aud_{number}"] = kills(is_carried_out=False)
        with pytest.raises(KilledError):
            story.work(release)
    story.work(release)
    assert release.state == ReleaseState.FINISHED
    assert states(release) == [LIVE, UNKNOWN, UNKNOWN, UNKNOWN, LIVE, LIVE]


def test_a_claim_that_was_taken_away_interrupts_no_call(story: Story) -> None:
    def hold_and_let_another_continue(
        service: PublishingAudiences, key: tuple[str, str], version_id: str
    ) -> httpx.Response:
        hold_restored()
        run_pending("another")
        assert Operation.objects.latest("pk").outcome == Outcome.SENDING
        return httpx.Response(200, json=service.carry_out(key, version_id))

    release = story.publish(2)
    story.service.ways["aud_1"] = hold_and_let_another_continue
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.HELD, [LIVE, WAITING])


def test_a_stopped_release_is_continued_with_the_rest(story: Story, paula: User) -> None:
    release = story.publish(3)
    decisions.stop(release, paula)
    story.work(release)
    assert states(release) == [WAITING] * 3
    decide(release, paula)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)


def test_nothing_of_a_schedule_is_sent_before_its_time(story: Story) -> None:
    release = schedule(story.publish(2))
    story.work(release, minutes=59)
    assert (release.state, len(story.service.sent)) == (ReleaseState.SCHEDULED, 0)


def test_a_missed_release_is_not_sent_later(story: Story) -> None:
    release = story.publish(2)
    story.clock.advance(16 * 60)
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
    assert release.hold_reason == "No worker ran for 16 min. Nothing was sent."


@pytest.mark.parametrize("reason", LOSSES)
def test_who_lost_the_right_since_does_not_publish(story: Story, reason: str) -> None:
    def accept_and_lose(
        service: PublishingAudiences, key: tuple[str, str], version_id: str
    ) -> httpx.Response:
        LOSSES[reason](User.objects.get())
        return httpx.Response(200, json=service.carry_out(key, version_id))

    release = story.publish(3)
    story.service.ways["aud_1"] = accept_and_lose
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.NOT_ALLOWED)
    assert release.hold_reason == f"{reason} One version was sent before."
    assert states(release) == [LIVE, WAITING, WAITING]


def test_a_version_sent_by_a_colleague_is_followed(story: Story, ada: User) -> None:
    ada.user_permissions.add(Permission.objects.get(codename="publish_version"))
    release = story.publish(1)
    target = PublishTarget("page_0", "aud_1", "ver_aud_1_2")

    Release.objects.filter(pk=release.pk).update(needs_check=False)
    key, version = publish_key(*target), release.items.get().version
    begin_publish(
        target, operation_key=key, version=version, live=None, audience_name="", actor=ada
    )
    story.work(release, minutes=0.1)
    assert states(release) == [ItemState.SENDING]
    assert not story.service.sent
    operation = Operation.objects.get()
    assert release.items.get().operation == operation
    operation.attempts.update(outcome=Outcome.ACCEPTED)
    Operation.objects.update(outcome=Outcome.ACCEPTED, settled_at=timezone.now())
    story.service.carry_out(("page_0", "aud_1"), target.version_id)
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE])
    assert not story.service.sent


def test_another_version_published_meanwhile_is_noticed_before_sending(
    story: Story, ada: User
) -> None:
    release = story.publish(1)
    other = PublishTarget("page_0", "aud_1", "ver_aud_1_1")
    live = release.items.get().live_version
    begin_publish(
        other, operation_key="another", version=live, live=None, audience_name="", actor=ada
    )
    Release.objects.filter(pk=release.pk).update(needs_check=False)
    release.items.update(checked_at=timezone.now())
    story.work(release)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.CHANGED)
    assert not story.service.sent


def test_half_an_hour_in_progress_becomes_unknown(story: Story) -> None:
    story.service.is_fast = False
    release = story.publish(2)
    story.work(release, minutes=1)
    story.clock.advance(28 * 60)
    story.work(release, minutes=0.5)
    assert states(release) == [ItemState.IN_PROGRESS] * 2
    story.work(release, minutes=1.5)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 2)
    assert reasons(release)[0] == "It was still in progress after 30 min."


def test_an_unfollowable_release_ends_after_half_an_hour(
    story: Story, fake_service: FakeService
) -> None:
    story.service.is_fast = False
    release = story.publish(2)
    story.work(release, minutes=1)
    fake_service.fails(httpx.ConnectTimeout)
    story.work(release, minutes=32)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 2)


def test_a_version_canceled_in_the_queue_has_failed(story: Story) -> None:
    story.service.is_fast = False
    release = story.publish(1)
    story.work(release, minutes=1)
    story.service.audiences["page_0", "aud_1"]["latestVersion"]["status"] = "cancelled"
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [FAILED])
    assert reasons(release) == ["Version 2 was canceled."]


def test_sent_items_of_a_held_release_are_followed(story: Story, paula: User) -> None:
    story.service.is_fast = False
    story.service.ways["aud_2"] = responds(429, Retry_After="3000")
    release = story.publish(2)
    story.work(release, minutes=1)
    assert (release.state, states(release)[0]) == (ReleaseState.HELD, ItemState.IN_PROGRESS)
    story.service.all_go_live()
    story.work(release, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.HELD, [LIVE, WAITING])
    assert release.wake_at is None


def test_a_page_that_is_gone_holds_the_release(story: Story) -> None:
    release = story.publish(1)
    story.service.pages.clear()
    story.work(release)
    assert (release.state, states(release)) == (ReleaseState.HELD, [HELD])
    assert "This page no longer exists." in release.hold_reason


def test_a_worker_checks_a_new_draft(
    service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    release = create_release(name="", note="", audiences=service.add(2), user=paula)
    work(release, clock)
    assert (release.state, release.needs_check) == (ReleaseState.DRAFT, False)
    assert release.wake_at is None
    assert all(item.digest and not risks(item) for item in release.items.all())


def test_an_unreadable_draft_is_checked_later(
    service: PublishingAudiences, fake_service: FakeService, clock: Clock, paula: User
) -> None:
    release = create_release(name="", note="", audiences=service.add(1), user=paula)
    fake_service.answers(500)
    work(release, clock, minutes=1)
    assert release.needs_check
    assert release.pause_reason.startswith("The versions couldn’t be checked.")
    fake_service.answer = service
    work(release, clock, minutes=1)
    assert (release.needs_check, release.pause_reason) == (False, "")
