"""A row that raises an unexpected error stops no other row, in any task of a worker."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db.models import F
from django.utils import timezone

from dashboard.embedded_api import deliveries
from dashboard.embedded_api.models import (
    EventDeliveryState,
    SigningSecret,
    Subscription,
    WebhookDelivery,
    WebhookEvent,
)
from dashboard.encryption import encrypt
from dashboard.ledger.crawls import schedule_first_crawl
from dashboard.ledger.feed import PRUNE_FEED
from dashboard.ledger.models import Crawl, CrawlState
from dashboard.ledger.operations import MARK_INTERRUPTED
from dashboard.live.presence import REMOVE_GONE
from dashboard.machine.models import MachineToken
from dashboard.machine.tokens import WATCH_TOKENS
from dashboard.notifications import sending
from dashboard.notifications.models import (
    Delivery,
    DeliveryState,
    Event,
    Notification,
    NotificationSettings,
)
from dashboard.notifications.recipients import NOTIFY
from dashboard.notifications.watches import WATCH, WATCH_SERVICE
from dashboard.page_drafts.drafts import DELETE_OLD_DRAFTS
from dashboard.releases.hinted_reads import FOLLOW_HINTS, RETRY_AFTER, read_hinted
from dashboard.releases.models import HoldKind, Release, ReleaseState
from dashboard.releases.worker import RELEASE_TASKS
from dashboard.server.management.commands.worker import tasks_beside_releases
from dashboard.service.crawl_task import CRAWL
from dashboard.webhooks.models import PageHint
from dashboard.webhooks.receiver import DELETE_OLD_DELIVERIES
from dashboard.work.tasks import WorkerTask
from tests.support.clock import Clock, ClockedStop
from tests.support.embedded_api_factories import make_subscription, make_version
from tests.support.failing_database import losable_database
from tests.support.fake_service import Answer, FakeService
from tests.support.hook_receiver import running_receiver
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences, checked_release, decide, work
from tests.support.seeding import seed_delivery, seed_event, seed_notification, seed_target

WAITING = {"state": DeliveryState.WAITING, "attempts": 0, "problem": "", "status_code": None}
CREATED = "page.version.created"
BAD = "page_bad"


def due(pk: int, **columns: Any) -> Delivery:
    """Record a message that is due. The event of the first one can't be put into words."""
    seed_event(pk, **({"facts": ["no", "mapping"]} if pk == 1 else {}))
    now = timezone.now()
    times = {"wake_at": now + timedelta(seconds=pk), "retry_until": now + timedelta(days=3)}
    return seed_delivery(pk, **WAITING | times | columns)


def check_failed(delivery: Delivery) -> None:
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 1)
    assert delivery.problem == "Pressroom failed unexpectedly. The error was logged."
    assert delivery.wake_at
    assert delivery.wake_at > timezone.now()


@pytest.mark.django_db
def test_no_event_without_recipients_stops_the_others(clock: Clock, paula: User) -> None:
    now = timezone.now()
    bad = seed_event(1, wake_at=now, kind="of_another_release")
    seed_event(2, wake_at=now, owner_ids=[paula.pk])
    NOTIFY.run("worker-1", threading.Event())
    assert Notification.objects.get().event.key == "event:2"
    bad.refresh_from_db()
    assert bad.wake_at == now + timedelta(seconds=5)
    # It is given up in the end, like any other failure.
    clock.advance(timedelta(days=4).total_seconds())
    NOTIFY.run("worker-1", threading.Event())
    bad.refresh_from_db()
    assert bad.wake_at is None


@pytest.mark.django_db
def test_no_email_stops_the_others(clock: Clock, paula: User, settings: Any) -> None:
    settings.EMAIL_IS_ON = True
    paula.email = "paula@kestrel.example"
    paula.save()
    bad, _ = [due(pk, channel="email", user=paula, target=None) for pk in (1, 2)]
    clock.advance(2)
    sending.deliver_emails("worker-1")
    assert [message.subject for message in mail.outbox] == [
        "Publishing version 2 of Brightwater Foods failed"
    ]
    check_failed(bad)
    # It is given up in the end, like any other failure.
    clock.advance(timedelta(days=4).total_seconds())
    sending.deliver_emails("worker-1")
    bad.refresh_from_db()
    assert (bad.state, bad.wake_at) == (DeliveryState.GIVEN_UP, None)


@pytest.mark.django_db
def test_no_webhook_stops_the_others(clock: Clock, settings: Any) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with running_receiver() as receiver:
        bad, _ = [due(pk, target=seed_target(pk, url=receiver.url)) for pk in (1, 2)]
        # As recorded before such hosts were refused.
        unreadable = due(3, target=seed_target(3, url="https://xn--/"))
        clock.advance(3)
        sending.deliver_pending("worker-1")
    assert len(receiver.received) == 1
    check_failed(bad)
    unreadable.refresh_from_db()
    assert (unreadable.state, unreadable.attempts) == (DeliveryState.GIVEN_UP, 1)


@pytest.mark.django_db
def test_no_event_stops_the_others(clock: Clock, settings: Any) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with running_receiver() as receiver:
        bad = make_subscription(url=receiver.url, events=[CREATED])
        SigningSecret.objects.filter(subscription=bad).update(encrypted=encrypt("whsec_"))
        unreadable = make_subscription(url="https://xn--zzzzzzzz99999/", events=[CREATED])
        good = make_subscription(url=receiver.url, events=[CREATED])
        make_version()
        deliveries.deliver_pending("worker-1")
    problem = WebhookDelivery.objects.get(subscription=bad).problem
    assert problem == "The service failed unexpectedly. The error was logged."
    results = {
        delivery.subscription_id: (delivery.state, delivery.attempt_count)
        for delivery in WebhookDelivery.objects.all()
    }
    assert results == {
        bad.pk: (EventDeliveryState.WAITING, 1),
        unreadable.pk: (EventDeliveryState.GIVEN_UP, 1),
        good.pk: (EventDeliveryState.DELIVERED, 1),
    }
    assert len(receiver.received) == 1


@pytest.mark.django_db
def test_no_announcement_stops_the_others(clock: Clock) -> None:
    subscriptions = Subscription.objects.filter(pk=make_subscription().pk)
    make_version()
    bad = WebhookEvent.objects.get()
    subscriptions.update(events=7)
    deliveries.deliver_pending("worker-1")
    bad.refresh_from_db()
    assert (bad.announced_at, bad.failures) == (None, 1)
    subscriptions.update(events=[])
    make_version()
    deliveries.deliver_pending("worker-1")
    assert WebhookEvent.objects.exclude(announced_at=None).exclude(pk=bad.pk).count() == 1
    subscriptions.update(events=7)
    for _ in range(30):
        clock.advance(3600)
        deliveries.deliver_pending("worker-1")
    bad.refresh_from_db()
    assert bad.announced_at
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db
def test_no_release_stops_the_others(clock: Clock, paula: User, fake_service: FakeService) -> None:
    fake_service.answer = service = PublishingAudiences()
    bad, good = (published(service.add(1, page_id=page_id), paula) for page_id in (BAD, "page_2"))
    fake_service.answer = broken_for_bad(service)
    work(good, clock, minutes=1)
    assert good.state == ReleaseState.FINISHED
    bad.refresh_from_db()
    assert (bad.state, bad.failures) == (ReleaseState.RUNNING, 2)
    work(bad, clock, minutes=20)
    assert (bad.state, bad.hold_kind, bad.wake_at) == (ReleaseState.HELD, HoldKind.ERROR, None)
    assert bad.hold_reason.startswith("Pressroom failed unexpectedly at this release.")
    assert service.audiences_sent == ["aud_2"]


def broken_for_bad(service: PublishingAudiences) -> Answer:
    """Return the service, with a page that makes our own code fail unexpectedly."""

    def respond(request: httpx.Request) -> httpx.Response:
        if BAD in request.url.path:
            raise ZeroDivisionError
        return service(request)

    return respond


def published(keys: list[Key], user: User) -> Release:
    release = checked_release(keys, user)
    decide(release, user)
    return release


@pytest.mark.django_db
def test_no_hint_stops_the_others(
    clock: Clock, fake_service: FakeService, caplog: pytest.LogCaptureFixture
) -> None:
    service, now = PublishingAudiences(), timezone.now()
    fake_service.answer = broken_for_bad(service)
    service.add(1, page_id="page_good")
    for page_id in (BAD, "page_good"):
        PageHint.objects.create(page_id=page_id, wake_at=now, not_before=now, waiting_since=now)
    read_hinted("worker-1")
    good, bad = (PageHint.objects.get(page_id=page_id) for page_id in ("page_good", BAD))
    assert (good.read_at, good.wake_at) == (now, None)
    assert (bad.worker_id, bad.wake_at) == ("", now + RETRY_AFTER)
    assert f"Work on PageHint {bad.pk} failed" in caplog.text
    clock.advance(61)
    read_hinted("worker-1")
    bad.refresh_from_db()
    assert bad.wake_at is None


@pytest.mark.django_db
def test_nothing_watched_stops_the_others(
    clock: Clock, vera: User, paula: User, settings: Any
) -> None:
    settings.EMAIL_IS_ON = True
    User.objects.update(email=F("username"))
    for user in (vera, paula):
        seed_notification(user)
    # A date from which no hour can be subtracted.
    NotificationSettings.objects.create(user=vera, digested_at=datetime.min.replace(tzinfo=UTC))
    clock.advance((32 - timezone.now().hour) * 3600)
    Event.objects.update(at=timezone.now())
    WATCH.run("worker-1", threading.Event())
    assert Delivery.objects.get().user == paula


@pytest.mark.django_db
def test_a_watch_that_fails_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with losable_database() as database:
        database.is_lost = True
        WATCH.run("worker-1", threading.Event())
    assert "Work on watch_schedules failed" in caplog.text


@pytest.mark.django_db
def test_no_page_stops_the_crawl(clock: Clock, fake_service: FakeService, settings: Any) -> None:
    settings.CRAWL_RATE = 1_000
    service = PublishingAudiences()
    for page_id in (BAD, "page_good"):
        service.add(1, page_id=page_id)
    fake_service.answer = broken_for_bad(service)
    schedule_first_crawl(timezone.now())
    CRAWL.run("worker-1", ClockedStop(clock))
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.audiences, crawl.problems) == (CrawlState.FINISHED, 1, 1)
    Crawl.objects.update(wake_at=timezone.now())
    fake_service.answer = lambda _: 1 / 0  # type: ignore[return-value]
    CRAWL.run("worker-1", ClockedStop(clock))
    crawl.refresh_from_db()
    assert (crawl.state, crawl.worker_id) == (CrawlState.FAILED, "")
    assert crawl.wake_at > timezone.now()


@pytest.mark.django_db
def test_each_token_that_expires_soon_is_noticed_once(clock: Clock, paula: User) -> None:
    for name in ("nightly", "weekly"):
        ends_at = timezone.now() + timedelta(days=30)
        MachineToken.objects.create(name=name, sha256=name, owner=paula, expires_at=ends_at)
    for days in (10, 7, 1, 9, 1):
        clock.advance(timedelta(days=days).total_seconds())
        WATCH_TOKENS.run("worker-1", threading.Event())
    # 14 and 3 days before the end.
    assert Event.objects.filter(kind="token_expires").count() == 4


def test_each_task_of_a_worker_is_tested_here(settings: Any) -> None:
    settings.CRAWL_RATE = 1
    tested: set[WorkerTask] = {
        *(
            NOTIFY,
            sending.DELIVER_EMAILS,
            sending.DELIVER_WEBHOOKS,
            *(WATCH, WATCH_SERVICE),
            FOLLOW_HINTS,
            MARK_INTERRUPTED,
            *(DELETE_OLD_DRAFTS, DELETE_OLD_DELIVERIES, PRUNE_FEED),
            *RELEASE_TASKS,
            CRAWL,
            REMOVE_GONE,
            WATCH_TOKENS,
        ),
        *(deliveries.DELIVER_EVENTS, deliveries.DELETE_OLD_EVENTS),
    }
    assert tested == {*RELEASE_TASKS, *tasks_beside_releases()}
