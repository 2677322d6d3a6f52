"""What a worker makes of a release, step by step, with the clock in the test's hand."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.utils import timezone

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
from dashboard.time_limits import CLAIM
from tests.releases.conftest import Publish
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


@pytest.fixture
def service(db: None, fake_service: FakeService, clock: Clock) -> PublishingAudiences:
    """A service that publishes at once."""
    fake_service.answer = service = PublishingAudiences()
    return service


def reasons(release: Release) -> list[str]:
    return list(release.items.values_list("reason", flat=True))


def test_versions_are_sent_in_order_each_with_a_key_of_its_own(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(3)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)
    assert service.audiences_sent == ["aud_1", "aud_2", "aud_3"]
    assert len(set(service.operation_keys)) == 3
    assert list(release.items.values_list("operation_key", flat=True)) == service.operation_keys
    assert set(Operation.objects.values_list("actor_name", "outcome")) == {("paula", "accepted")}


def test_a_release_is_running_until_everything_is_live(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.is_fast = False
    release = publish(2)
    work(release, clock, minutes=1)
    assert (release.state, set(states(release))) == (ReleaseState.RUNNING, {"in_progress"})
    service.all_go_live()
    work(release, clock, minutes=1)
    assert (release.state, set(states(release))) == (ReleaseState.FINISHED, {LIVE})


def test_a_version_changed_after_the_review_holds_the_release(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(3)
    service.edit(("page_0", "aud_2"))
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.HELD, [WAITING, HELD, WAITING])
    assert release.hold_kind == HoldKind.CHANGED
    assert release.hold_reason == (
        "Name of aud_2: Version 3 was created after you reviewed version 2. Nothing was sent."
    )
    assert not service.sent


def test_the_others_are_sent_on_request(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(3, publishes_others=True)
    service.edit(("page_0", "aud_2"))
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, HELD, LIVE])


@pytest.mark.parametrize(("pages", "after"), [(1, [LIVE, WAITING, HELD]), (3, [LIVE, LIVE, HELD])])
def test_a_version_changed_while_the_release_runs_is_not_sent(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    pages: int,
    after: list[ItemState],
) -> None:
    def pause_once(service: PublishingAudiences, *_: object) -> httpx.Response:
        del service.ways["aud_2"]
        service.edit(list(service.audiences)[-1])
        return httpx.Response(429, headers={"retry-after": "30"})

    release = publish(3 // pages, pages=pages)
    service.ways["aud_2"] = pause_once
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.HELD, after)
    assert "Version 3 was created" in release.hold_reason


def test_a_rejected_version_fails_with_the_words_of_the_service(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.ways["aud_2"] = responds(409, "version 2 was canceled")
    release = publish(3)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, FAILED, LIVE])
    assert reasons(release)[1] == "The service returned 409: version 2 was canceled."


def test_too_many_requests_pause_for_as_long_as_the_service_asks(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.ways["aud_1"] = responds(429, "Slow down", Retry_After="120")
    release = publish(2)
    work(release, clock, minutes=1.9)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING, WAITING])
    assert release.pause_reason == "The service returned 429: Slow down."
    del service.ways["aud_1"]
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, LIVE])
    assert service.audiences_sent == ["aud_1", "aud_1", "aud_2"]
    assert len(set(service.operation_keys)) == 3


def test_a_wait_beyond_the_tolerance_holds_the_release(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.way = responds(429, "Slow down", Retry_After="1200")
    release = publish(2)
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
    assert "The service accepts the next publish in 20 minutes." in release.hold_reason


@pytest.mark.parametrize("way", [fails(httpx.ConnectError, is_carried_out=False), responds(401)])
def test_what_did_not_reach_the_service_is_sent_again(
    publish: Publish, service: PublishingAudiences, clock: Clock, way: object
) -> None:
    service.way = way
    release = publish(2)
    work(release, clock, minutes=0.2)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING, WAITING])
    service.way = PublishingAudiences().way
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, LIVE])
    assert max(service.carried_out.values()) == 1


@pytest.mark.parametrize(("is_carried_out", "state"), [(True, LIVE), (False, UNKNOWN)])
def test_a_lost_response_is_checked_and_never_sent_again(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    is_carried_out: bool,
    state: ItemState,
) -> None:
    service.ways["aud_2"] = fails(httpx.ReadTimeout, is_carried_out=is_carried_out)
    release = publish(3)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, state, LIVE])
    assert service.audiences_sent == ["aud_1", "aud_2", "aud_3"]


def test_after_an_unknown_outcome_the_next_version_is_checked(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(4)
    service.ways["aud_2"] = fails(httpx.ReadError, is_carried_out=False)
    service.paths.clear()
    work(release, clock, minutes=1 / 60)
    assert service.audiences_sent == ["aud_1", "aud_2", "aud_3", "aud_4"]
    conversations = [path for path in service.paths if path.endswith("/messages")]
    # With a stopped clock, a check seems as old as the outcome after it.
    assert len(conversations) == 4 + 2 + 1


def test_a_release_is_finished_as_soon_as_everything_is_live(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(2)
    work(release, clock)
    settled = release.items.values_list("settled_at", flat=True)
    assert release.finished_at == max(at for at in settled if at)


def test_three_unknown_outcomes_in_a_row_hold_the_release(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.way = responds(500)
    release = publish(5)
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.SILENT)
    assert states(release) == [UNKNOWN] * 3 + [WAITING] * 2


def test_somebody_may_continue_after_unknown_outcomes(
    publish: Publish, service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    service.way = responds(500)
    release = publish(5)
    work(release, clock)
    service.way = PublishingAudiences().way
    decide(release, paula)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 3 + [LIVE] * 2)


def test_a_silent_service_pauses_the_release(
    publish: Publish, service: PublishingAudiences, fake_service: FakeService, clock: Clock
) -> None:
    release = publish(3)
    fake_service.fails(httpx.ConnectTimeout)
    work(release, clock, minutes=10)
    assert (release.state, states(release)) == (ReleaseState.RUNNING, [WAITING] * 3)
    assert release.pause_reason
    cache.clear()  # The circuit breaker has a clock of its own.
    fake_service.answer = service
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)


def test_a_service_silent_for_a_quarter_of_an_hour_holds_the_release(
    publish: Publish, service: PublishingAudiences, fake_service: FakeService, clock: Clock
) -> None:
    release = publish(3)
    fake_service.fails(httpx.ConnectTimeout)
    work(release, clock, minutes=17)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.SILENT)
    assert release.hold_reason.startswith("Nothing could be sent for 15 minutes.")
    assert release.hold_reason.endswith("Nothing was sent.")
    assert states(release) == [WAITING] * 3


@pytest.mark.parametrize(("is_carried_out", "state"), [(True, LIVE), (False, UNKNOWN)])
def test_a_worker_killed_during_a_call_leaves_an_outcome_to_check(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    is_carried_out: bool,
    state: ItemState,
) -> None:
    service.ways["aud_2"] = kills(is_carried_out=is_carried_out)
    release = publish(3)
    with pytest.raises(KilledError):
        work(release, clock)
    work(release, clock, minutes=TAKEOVER_MINUTES, worker_id="worker-2")
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE, state, LIVE])
    assert service.audiences_sent == ["aud_1", "aud_2", "aud_3"]


def test_workers_that_are_killed_hold_no_release(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(6)
    for number in (2, 3, 4):
        service.ways[f"aud_{number}"] = kills(is_carried_out=False)
        with pytest.raises(KilledError):
            work(release, clock)
    work(release, clock)
    assert release.state == ReleaseState.FINISHED
    assert states(release) == [LIVE, UNKNOWN, UNKNOWN, UNKNOWN, LIVE, LIVE]


def test_a_claim_that_was_taken_away_interrupts_no_call(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    def hold_and_let_another_continue(
        service: PublishingAudiences, key: tuple[str, str], version_id: str
    ) -> httpx.Response:
        hold_restored()
        run_pending("another")
        assert Operation.objects.latest("pk").outcome == Outcome.SENDING
        return httpx.Response(200, json=service.carry_out(key, version_id))

    release = publish(2)
    service.ways["aud_1"] = hold_and_let_another_continue
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.HELD, [LIVE, WAITING])


def test_stop_ends_after_the_version_being_sent(
    publish: Publish, service: PublishingAudiences, clock: Clock, ada: User
) -> None:
    def accept_and_stop(
        service: PublishingAudiences, key: tuple[str, str], version_id: str
    ) -> httpx.Response:
        decisions.stop(release, ada)
        return httpx.Response(200, json=service.carry_out(key, version_id))

    service.ways["aud_2"] = accept_and_stop
    release = publish(4)
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.STOPPED)
    assert states(release) == [LIVE, LIVE, WAITING, WAITING]
    assert release.hold_reason == "ada stopped it. 2 versions were sent before."


def test_a_stopped_release_is_continued_with_the_rest(
    publish: Publish, service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    release = publish(3)
    decisions.stop(release, paula)
    work(release, clock)
    assert states(release) == [WAITING] * 3
    decide(release, paula)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE] * 3)


@pytest.mark.parametrize(("minutes_late", "is_sent"), [(14, True), (16, False)])
def test_a_scheduled_release_is_sent_up_to_a_quarter_of_an_hour_late(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    minutes_late: int,
    is_sent: bool,
) -> None:
    release = schedule(publish(2))
    clock.advance(3600 + minutes_late * 60)
    work(release, clock)
    assert len(service.sent) == (2 if is_sent else 0)
    if not is_sent:
        assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
        assert release.hold_reason == (
            "It was due 16 minutes before a worker could start it. Nothing was sent."
        )


def test_nothing_of_a_schedule_is_sent_before_its_time(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = schedule(publish(2))
    work(release, clock, minutes=59)
    assert (release.state, len(service.sent)) == (ReleaseState.SCHEDULED, 0)


def test_a_release_that_no_worker_ran_is_not_sent_later(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(2)
    clock.advance(16 * 60)
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.LATE)
    assert release.hold_reason == "No worker ran for 16 minutes. Nothing was sent."


def leave(owner: User) -> None:
    owner.groups.clear()


def turn_off(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)


def delete(owner: User) -> None:
    owner.delete()


@pytest.mark.parametrize(
    ("lose", "reason"),
    [
        (leave, "paula may no longer publish."),
        (turn_off, "The account of paula is turned off."),
        (delete, "The account of paula no longer exists."),
    ],
)
def test_who_lost_the_right_since_does_not_publish(
    publish: Publish,
    service: PublishingAudiences,
    clock: Clock,
    lose: Callable[[User], None],
    reason: str,
) -> None:
    def accept_and_lose(
        service: PublishingAudiences, key: tuple[str, str], version_id: str
    ) -> httpx.Response:
        lose(User.objects.get())
        return httpx.Response(200, json=service.carry_out(key, version_id))

    release = publish(3)
    service.ways["aud_1"] = accept_and_lose
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.NOT_ALLOWED)
    assert release.hold_reason == f"{reason} One version was sent before."
    assert states(release) == [LIVE, WAITING, WAITING]


def test_a_version_that_somebody_else_is_sending_is_followed(
    publish: Publish, service: PublishingAudiences, clock: Clock, ada: User
) -> None:
    ada.user_permissions.add(Permission.objects.get(codename="publish_version"))
    release = publish(1)
    target = PublishTarget("page_0", "aud_1", "ver_aud_1_2")

    Release.objects.filter(pk=release.pk).update(needs_check=False)
    key, version = publish_key(*target), release.items.get().version
    begin_publish(target, operation_key=key, version=version, audience_name="", actor=ada)
    work(release, clock, minutes=0.1)
    assert states(release) == [ItemState.SENDING]
    assert not service.sent
    operation = Operation.objects.get()
    assert release.items.get().operation == operation
    operation.attempts.update(outcome=Outcome.ACCEPTED)
    Operation.objects.update(outcome=Outcome.ACCEPTED, settled_at=timezone.now())
    service.carry_out(("page_0", "aud_1"), target.version_id)
    work(release, clock)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [LIVE])
    assert not service.sent


def test_another_version_published_meanwhile_is_noticed_before_sending(
    publish: Publish, service: PublishingAudiences, clock: Clock, ada: User
) -> None:
    release = publish(1)
    other = PublishTarget("page_0", "aud_1", "ver_aud_1_1")
    live = release.items.get().live_version
    begin_publish(other, operation_key="another", version=live, audience_name="", actor=ada)
    Release.objects.filter(pk=release.pk).update(needs_check=False)
    release.items.update(checked_at=timezone.now())
    work(release, clock)
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.CHANGED)
    assert not service.sent


def test_what_is_in_progress_for_half_an_hour_is_unknown(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.is_fast = False
    release = publish(2)
    work(release, clock, minutes=1)
    clock.advance(28 * 60)
    work(release, clock, minutes=0.5)
    assert states(release) == [ItemState.IN_PROGRESS] * 2
    work(release, clock, minutes=1.5)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 2)
    assert reasons(release)[0] == "It was still in progress after 30 minutes."


def test_half_an_hour_ends_a_release_that_can_not_be_followed(
    publish: Publish, service: PublishingAudiences, fake_service: FakeService, clock: Clock
) -> None:
    service.is_fast = False
    release = publish(2)
    work(release, clock, minutes=1)
    fake_service.fails(httpx.ConnectTimeout)
    work(release, clock, minutes=32)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [UNKNOWN] * 2)


def test_a_version_canceled_in_the_queue_has_failed(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    service.is_fast = False
    release = publish(1)
    work(release, clock, minutes=1)
    service.audiences["page_0", "aud_1"]["latestVersion"]["status"] = "cancelled"
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [FAILED])
    assert reasons(release) == ["Version 2 was canceled."]


def test_what_a_held_release_has_sent_is_followed_to_its_end(
    publish: Publish, service: PublishingAudiences, clock: Clock, paula: User
) -> None:
    service.is_fast = False
    service.ways["aud_2"] = responds(429, Retry_After="3000")
    release = publish(2)
    work(release, clock, minutes=1)
    assert (release.state, states(release)[0]) == (ReleaseState.HELD, ItemState.IN_PROGRESS)
    service.all_go_live()
    work(release, clock, minutes=1)
    assert (release.state, states(release)) == (ReleaseState.HELD, [LIVE, WAITING])
    assert release.wake_at is None


def test_a_page_that_is_gone_holds_the_release(
    publish: Publish, service: PublishingAudiences, clock: Clock
) -> None:
    release = publish(1)
    service.pages.clear()
    work(release, clock)
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


def test_a_draft_that_can_not_be_read_is_checked_later(
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
