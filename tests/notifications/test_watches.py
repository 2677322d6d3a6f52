"""What becomes true as time passes is noticed once."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.contract.audiences import Audience
from dashboard.ledger.models import Delivery as ReceivedDelivery
from dashboard.ledger.models import Receiver
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_audiences
from dashboard.notifications import watches
from dashboard.notifications.followed_changes import compare_followed
from dashboard.notifications.following import follow, is_followed, unfollow
from dashboard.notifications.models import Event
from dashboard.notifications.snapshots import AudienceRow, compare, snapshot_of
from dashboard.operations.approved_changes import request_page
from dashboard.releases.models import ReleaseState
from tests.notifications.test_events import notices_of
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages, seed_release


def publish(user: User) -> None:
    """Record a publish that the service has accepted."""
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    kind = OperationKind.PUBLISH_VERSION
    _, attempt = begin(operation_key="pr-1", kind=kind, actor=user, target=target, body={})
    assert attempt
    end(attempt, AttemptResult(Outcome.ACCEPTED))


def queued(**differs: Any) -> dict[str, Any]:
    now = timezone.now().isoformat()
    return wire.audience(latestVersion=wire.version(status="queued", queuedAt=now) | differs)


def test_a_publish_that_takes_longer_than_usual_is_reported_once(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    audience = queued()
    serve(fake_service, audience)
    publish(paula)
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
def test_how_long_a_stuck_publish_has_taken_is_given_in_seconds(
    paula: User, clock: Clock, fake_service: FakeService, seconds: int, words: str
) -> None:
    audience = queued()
    serve(fake_service, audience)
    publish(paula)
    seed_audiences(audience)
    clock.advance(seconds)
    watches.watch_publishes(timezone.now())
    assert f"than usual: {words} so far." in notices_of(paula)[0]


def test_one_that_is_not_stuck_hides_no_other(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    """The service returns only the last of these audiences: the others are as last known."""
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
        target = Target("page_1", name, "ver_2", 2, target_name=name)
        kind = OperationKind.PUBLISH_VERSION
        _, attempt = begin(operation_key=name, kind=kind, actor=paula, target=target, body={})
        assert attempt
        end(attempt, AttemptResult(Outcome.ACCEPTED))
        clock.advance(1)
    later = (timezone.now() + timedelta(seconds=1)).isoformat()
    live = wire.live_version(versionId="ver_8", queuedAt=later, publishedAt=later)
    gone = [wire.audience(audienceId=name, publishedVersion=live) for name in names[:-1]]
    for each in gone:
        each["latestVersion"] = wire.version(versionId="ver_9", versionNumber=9)
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
    publish(paula)
    seed_audiences(queued())
    live = wire.version(status="published", publishedAt=timezone.now().isoformat())
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    clock.advance(600)
    watches.watch_publishes(timezone.now())
    assert notices_of(paula) == []


def test_a_service_that_can_t_be_read_makes_no_publish_stuck(
    paula: User, clock: Clock, fake_service: FakeService
) -> None:
    publish(paula)
    seed_audiences(queued())
    fake_service.answer = lambda _: httpx.Response(503)
    clock.advance(600)
    watches.watch_publishes(timezone.now())
    assert notices_of(paula) == []


def check(clock: Clock, *, is_reachable: bool, minutes: float) -> None:
    """Check the service twice a minute."""
    for _ in range(round(minutes * 2)):
        watches.note_service(timezone.now(), is_reachable=is_reachable)
        clock.advance(30)


def test_a_service_that_is_away_for_five_minutes_is_reported_once_and_when_it_is_back(
    ada: User, vera: User, clock: Clock
) -> None:
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


def test_a_failure_before_the_workers_were_away_says_nothing_of_that_time(
    ada: User, clock: Clock
) -> None:
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
    """Record events of the receiver."""
    Receiver.objects.get_or_create(pk=1, defaults={"is_on": True})
    for hours in sorted(hours_ago, reverse=True):
        at = timezone.now() - timedelta(hours=hours)
        ReceivedDelivery.objects.create(received_at=at, size=1, headers={})


def test_a_receiver_that_is_silent_for_longer_than_ever_is_reported_once(
    ada: User, clock: Clock
) -> None:
    receive(*[1.9 + each for each in range(20)], 25)
    for _ in range(6):
        clock.advance(1800)
        watches.watch_receiver(timezone.now())
    [words] = notices_of(ada)
    assert words == (
        "The webhook receiver has had no events for 4.4 h. The longest pause before was 4.1 h."
    )


def test_too_few_events_say_nothing_of_what_is_usual(ada: User) -> None:
    receive(*[100 + each / 10 for each in range(10)])
    watches.watch_receiver(timezone.now())
    assert notices_of(ada) == []


def test_a_receiver_that_is_off_is_silent_for_a_reason(ada: User) -> None:
    receive(*[100 + each / 10 for each in range(30)])
    Receiver.objects.update(is_on=False)
    watches.watch_receiver(timezone.now())
    assert notices_of(ada) == []


def test_a_schedule_that_no_worker_has_started_is_reported_once(paula: User, clock: Clock) -> None:
    due_at = timezone.now() + timedelta(hours=1)
    seed_release(state=ReleaseState.SCHEDULED, due_at=due_at, owner=paula)
    for _ in range(10):
        watches.watch_schedules(timezone.now())
        clock.advance(600)
    assert notices_of(paula) == [
        f"The release Release 1 wasn’t started when it was due, {due_at:%Y-%m-%d %H:%M} UTC."
    ]


def test_looking_for_everything_goes_on_after_an_error(
    ada: User, clock: Clock, settings: Any
) -> None:
    settings.NOTIFICATION_WINDOW_S = None
    due_at = timezone.now() - timedelta(hours=1)
    seed_release(state=ReleaseState.SCHEDULED, due_at=due_at, owner=ada)
    receive(*[100 + each / 10 for each in range(30)])
    watches.look_once()
    assert len(notices_of(ada)) == 2


def test_a_request_that_nobody_decides_in_time_is_reported_once(paula: User, clock: Clock) -> None:
    request_page({"name": "New"}, note="", user=paula)
    for _ in range(10):
        clock.advance(86_400)
        watches.watch_approvals(timezone.now())
    assert notices_of(paula) == ["A request for approval expired: Create page New."]


# What users follow


def named(number: int, **differs: Any) -> dict[str, Any]:
    """Return an audience with a name of its own."""
    return wire.audience(audienceId=f"aud_{number}", effectiveName=f"A{number}", **differs)


def changed(**differs: Any) -> None:
    """Record a change of an audience, and look for it."""
    seed_audiences(wire.audience(**differs))
    compare_followed(timezone.now())


@pytest.fixture
def _seen(db: None, clock: Clock) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    clock.advance(3600)


@pytest.mark.usefixtures("_seen")
@pytest.mark.parametrize("audience_id", ["", "aud_1"])
def test_a_new_version_of_what_is_followed_is_reported_once(
    vera: User, clock: Clock, audience_id: str
) -> None:
    follow(vera, "page_1", audience_id)
    clock.advance(60)
    for _ in range(3):
        changed(latestVersion=wire.version(versionId="ver_3", versionNumber=3))
        clock.advance(60)
    assert notices_of(vera) == ["Brightwater Foods: version 3 is the latest."]


@pytest.mark.usefixtures("_seen")
def test_what_goes_live_is_reported_but_not_to_who_published_it(
    vera: User, paula: User, clock: Clock
) -> None:
    for user in (vera, paula):
        follow(user, "page_1", "aud_1")
    publish(paula)
    live = wire.version(status="published", publishedAt=timezone.now().isoformat())
    clock.advance(60)
    changed(latestVersion=live, publishedVersion=live)
    assert notices_of(vera) == [
        "paula published version 2 of Brightwater Foods.",
        "Brightwater Foods: version 2 is live.",
    ]
    assert notices_of(paula) == []


@pytest.mark.usefixtures("_seen")
def test_a_status_on_its_way_is_no_news(vera: User, clock: Clock) -> None:
    follow(vera, "page_1")
    clock.advance(60)
    for status in ("queued", "processing"):
        changed(latestVersion=wire.version(status=status))
    assert notices_of(vera) == []


@pytest.mark.usefixtures("_seen")
def test_audiences_that_are_read_for_the_first_time_are_new_only_if_they_are(
    vera: User, clock: Clock
) -> None:
    follow(vera, "page_1")
    clock.advance(60)
    old = wire.audience(audienceId="aud_2", createdAt="2020-01-01T00:00:00Z")
    new = wire.audience(
        audienceId="aud_3", createdAt=timezone.now().isoformat(), effectiveName="Newcomer"
    )
    seed_audiences(old, new)
    compare_followed(timezone.now())
    assert notices_of(vera) == ["Newcomer: is new."]


@pytest.mark.usefixtures("_seen")
def test_several_changes_at_once_are_one_event(vera: User, clock: Clock) -> None:
    numbers = range(2, 8)
    seed_audiences(*[named(each) for each in numbers])
    follow(vera, "page_1")
    clock.advance(60)
    latest = wire.version(versionId="ver_9", versionNumber=9)
    seed_audiences(*[named(each, latestVersion=latest) for each in numbers])
    compare_followed(timezone.now())
    [words] = notices_of(vera)
    assert words.endswith(": 6 changes: A2, A3, A4 and 3 more.")


@pytest.mark.usefixtures("_seen")
def test_a_change_recorded_by_a_slow_read_is_not_missed(
    vera: User, clock: Clock, settings: Any
) -> None:
    settings.SERVICE_TIMEOUT_S = 120
    began_at: datetime = timezone.now()
    clock.advance(60)
    follow(vera, "page_1")
    clock.advance(60)
    compare_followed(timezone.now())
    new = wire.audience(latestVersion=wire.version(versionId="ver_3", versionNumber=3))
    record_audiences("page_1", [Audience.model_validate(new)], read_at=began_at)
    compare_followed(timezone.now())
    assert notices_of(vera) == ["Brightwater Foods: version 3 is the latest."]


@pytest.mark.usefixtures("_seen")
def test_who_follows_no_longer_is_reported_no_more_and_nothing_of_the_time_between(
    vera: User, clock: Clock
) -> None:
    follow(vera, "page_1")
    unfollow(vera, "page_1")
    assert not is_followed(vera, "page_1")
    clock.advance(60)
    changed(latestVersion=wire.version(versionId="ver_3", versionNumber=3))
    follow(vera, "page_1")
    compare_followed(timezone.now())
    assert notices_of(vera) == []
    assert not Event.objects.exists()


@pytest.mark.same_on_any_database
def test_what_enters_or_leaves_a_saved_view_is_a_change_of_it() -> None:
    def row(number: int, live: int | None = 1) -> AudienceRow:
        return AudienceRow(
            "page_1", f"aud_{number}", f"A{number}", 1, live, archived=False, created_at=None
        )

    before, rows = snapshot_of([row(1), row(2), row(3)], None), [row(2), row(3, live=2), row(4)]
    changes = compare(before, snapshot_of(rows, None), rows, timezone.now(), is_view=True)
    assert {change.name: change.what for change in changes} == {
        "A1": ["is no longer in this view"],
        "A3": ["version 2 is live"],
        "A4": ["is in this view now"],
    }


@pytest.mark.usefixtures("_seen")
def test_an_idle_worker_makes_few_queries(
    vera: User, clock: Clock, django_assert_max_num_queries: Any
) -> None:
    follow(vera, "page_1")
    with django_assert_max_num_queries(5):
        watches.look_once()
