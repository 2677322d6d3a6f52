"""Conditions that become true as time passes are reported once."""

import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone

from dashboard.approvals.changes import request_page
from dashboard.ledger.operations import Target
from dashboard.notifications import watches
from dashboard.notifications.models import NotificationSettings
from dashboard.notifications.preferences import follow
from dashboard.releases.models import ReleaseState
from dashboard.service.outages import note_failure, note_response
from dashboard.webhooks.models import ReceivedDelivery, Receiver
from tests.notifications.conftest import notices_of
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.feed import added_to_feed, facts
from tests.support.interleaving import before_response, held_at
from tests.support.one_audience import serve
from tests.support.operations import operation
from tests.support.seeding import seed_audiences, seed_release


def queued(**differs: Any) -> dict[str, Any]:
    now = timezone.now().isoformat()
    return wire.audience(latestVersion=wire.version(status="queued", queuedAt=now) | differs)


def test_a_slow_publish_is_reported_once(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    audience = queued()
    serve(fake_service, audience)
    operation(paula, "pr-1")
    seed_audiences(audience)
    for _ in range(8):
        watches.watch_publishes(timezone.now())
        clock.advance(30)
    assert notices_of(paula) == [
        "Publishing version 2 of Brightwater Foods takes longer than usual: "
        "2 min 30 s so far. 95% take at most 2 min."
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(150, "2 min 30 s"), (300, "5 min"), (303, "5 min 03 s"), (3900, "1 h 05 min")],
)
def test_a_stuck_publish_reports_its_duration(
    paula: User, clock: Clock, fake_service: FakeService, seconds: int, words: str
) -> None:
    audience = queued()
    serve(fake_service, audience)
    operation(paula, "pr-1")
    seed_audiences(audience)
    clock.advance(seconds)
    watches.watch_publishes(timezone.now())
    assert f"than usual: {words} so far." in notices_of(paula)[0]


def test_one_that_is_not_stuck_hides_no_other(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    """The service returns only the last of these audiences; the others are as last known."""
    queued_at = timezone.now().isoformat()
    names = [f"aud_{number}" for number in range(8)]
    audiences = [
        wire.audience(
            audienceId=name,
            latestVersion=wire.version(audienceId=name, status="queued", queuedAt=queued_at),
        )
        for name in names
    ]
    seed_audiences(*audiences)
    for name in names:
        operation(paula, name, target=Target("page_1", name, "ver_2", 2, target_name=name))
        clock.advance(1)
    later = (timezone.now() + timedelta(seconds=1)).isoformat()
    live = wire.live_version(versionId="ver_8", queuedAt=later, publishedAt=later)
    gone = [wire.audience(audienceId=name, publishedVersion=live) for name in names[:-1]]
    for item in gone:
        item["latestVersion"] = wire.version(versionId="ver_9", versionNumber=9)
    serve(fake_service, *gone, audiences[-1])
    clock.advance(600)
    for _ in range(4):
        watches.watch_publishes(timezone.now())
        clock.advance(30)
    stuck = [words.split(" takes ")[0] for words in notices_of(paula) if " takes " in words]
    assert stuck == ["Publishing version 2 of aud_7"]


def test_a_version_that_went_live_unseen_is_not_stuck(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    operation(paula, "pr-1")
    seed_audiences(queued())
    live = wire.version(status="published", publishedAt=timezone.now().isoformat())
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    clock.advance(600)
    watches.watch_publishes(timezone.now())
    assert notices_of(paula) == []


def test_an_unreadable_service_makes_no_publish_stuck(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    operation(paula, "pr-1")
    seed_audiences(queued())
    fake_service.answer = lambda _: httpx.Response(503)
    clock.advance(600)
    watches.watch_publishes(timezone.now())
    assert notices_of(paula) == []


def check(clock: Clock, *, is_reachable: bool, minutes: float) -> None:
    """Report the service as up or down twice a minute."""
    for _ in range(round(minutes * 2)):
        if is_reachable:
            note_response(timezone.now())
        else:
            note_failure(timezone.now(), "The host is away.")
        watches.report_outage(timezone.now())
        cache.clear()
        clock.advance(30)


def test_an_outage_is_in_the_change_feed_when_it_begins_and_ends(db: None, clock: Clock) -> None:
    with added_to_feed() as entries:
        check(clock, is_reachable=True, minutes=1)
        check(clock, is_reachable=False, minutes=2)
    assert facts(entries) == [("service",)]
    with added_to_feed() as entries:
        check(clock, is_reachable=True, minutes=2)
    assert facts(entries) == [("service",)]


def test_a_service_outage_is_reported_once(ada: User, vera: User, clock: Clock) -> None:
    check(clock, is_reachable=False, minutes=4.5)
    assert notices_of(ada) == []
    check(clock, is_reachable=False, minutes=7.5)
    check(clock, is_reachable=True, minutes=5)
    assert notices_of(ada) == [
        "The service has been unreachable for 5 min.",
        "The service responds again, after 12 min.",
    ]
    assert notices_of(vera) == []


def test_a_service_that_is_away_for_less_is_not(ada: User, clock: Clock) -> None:
    for _ in range(3):
        check(clock, is_reachable=False, minutes=4)
        check(clock, is_reachable=True, minutes=0.5)
    assert notices_of(ada) == []


def test_a_failure_while_workers_were_away_is_not_counted(ada: User, clock: Clock) -> None:
    check(clock, is_reachable=False, minutes=1)
    clock.advance(3600)
    check(clock, is_reachable=False, minutes=1)
    assert notices_of(ada) == []


@pytest.mark.parametrize("status", [500, 503])
def test_the_watch_calls_the_service_itself(
    ada: User, clock: Clock, fake_service: FakeService, status: int
) -> None:
    fake_service.answer = lambda _: httpx.Response(status)
    for _ in range(12):
        watches.watch_service(timezone.now())
        clock.advance(30)
    assert notices_of(ada) == ["The service has been unreachable for 5 min."]


def receive(*hours_ago: float) -> None:
    """Record that the receiver got events at these times."""
    Receiver.objects.get_or_create(pk=1, defaults={"is_on": True})
    for hours in sorted(hours_ago, reverse=True):
        at = timezone.now() - timedelta(hours=hours)
        ReceivedDelivery.objects.create(received_at=at, size=1, headers={})


def test_an_unusually_silent_receiver_is_reported_once(ada: User, clock: Clock) -> None:
    receive(*[1.9 + number for number in range(20)], 25)
    for _ in range(6):
        clock.advance(1800)
        watches.watch_receiver(timezone.now())
    [words] = notices_of(ada)
    assert words == (
        "The webhook receiver has had no events for 4.4 h. The longest pause before was 4.1 h."
    )


def test_too_few_events_say_nothing_of_what_is_usual(ada: User) -> None:
    receive(*[100 + number / 10 for number in range(10)])
    watches.watch_receiver(timezone.now())
    assert notices_of(ada) == []


def test_a_receiver_that_is_off_may_be_silent(ada: User) -> None:
    receive(*[100 + number / 10 for number in range(30)])
    Receiver.objects.update(is_on=False)
    watches.watch_receiver(timezone.now())
    assert notices_of(ada) == []


def test_a_schedule_without_a_worker_is_reported_once(paula: User, clock: Clock) -> None:
    due_at = timezone.now() + timedelta(hours=1)
    seed_release(state=ReleaseState.SCHEDULED, due_at=due_at, owner=paula)
    for _ in range(10):
        watches.watch_schedules(timezone.now())
        clock.advance(600)
    assert notices_of(paula) == [
        f"The release Release 1 wasn’t started when it was due, {due_at:%Y-%m-%d %H:%M} UTC."
    ]


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.usefixtures("_email_on")
def test_a_service_that_does_not_respond_delays_no_digest(
    ada: User, clock: Clock, fake_service: FakeService, settings: Any
) -> None:
    settings.EMBEDDED_API = False
    NotificationSettings.objects.create(user=ada, digest_hour=timezone.now().hour)
    not_responding = before_response(fake_service, "/pages")
    with held_at(not_responding, watches.WATCH_SERVICE.run, "worker-1", threading.Event()):
        watches.WATCH.run("worker-1", threading.Event())
        assert NotificationSettings.objects.get(user=ada).digested_on


def test_one_failed_event_does_not_stop_the_watch(ada: User, clock: Clock, settings: Any) -> None:
    settings.NOTIFICATION_WINDOW_S = None
    due_at = timezone.now() - timedelta(hours=1)
    seed_release(state=ReleaseState.SCHEDULED, due_at=due_at, owner=ada)
    receive(*[100 + number / 10 for number in range(30)])
    watches.WATCH.run("worker-1", threading.Event())
    assert len(notices_of(ada)) == 2


def test_an_undecided_request_is_reported_once(paula: User, clock: Clock) -> None:
    request_page({"name": "New"}, operation_key=str(uuid4()), note="", user=paula)
    for _ in range(10):
        clock.advance(86_400)
        watches.watch_approvals(timezone.now())
    assert notices_of(paula) == ["A request for approval expired: Create page New."]


def test_an_idle_worker_makes_few_queries(
    vera: User, clock: Clock, django_assert_max_num_queries: Any
) -> None:
    follow(vera, "page_1")
    with django_assert_max_num_queries(5):
        for task in (watches.WATCH, watches.WATCH_SERVICE):
            task.run("worker-1", threading.Event())
