"""An event makes a worker read at once; a flood of events makes no flood of calls."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Thread
from typing import Any, TypeAlias

import httpx
import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from dashboard.ledger.models import (
    AudienceRecord,
    DeviationRecord,
    Operation,
    PageRecord,
    VersionRecord,
)
from dashboard.limits import OF_PROCESS
from dashboard.outgoing_webhooks import new_secret, signed_headers
from dashboard.releases.hinted_reads import FOLLOW_HINTS, read_hinted
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.worker import run_pending, run_worker
from dashboard.service.client import close_publishing_client
from dashboard.web.webhooks.deliveries import MAX_PER_MINUTE, MAX_SIGNED_PER_MINUTE
from dashboard.web.webhooks.hook_views import hook
from dashboard.webhooks.hints import take_hint
from dashboard.webhooks.models import PageHint, ReceivedDelivery, Receiver
from dashboard.work import claims
from tests.releases.conftest import Publish
from tests.support.clock import Clock, stopped
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.release_service import PublishingAudiences, states

LIST = "/v0/pages/page_0/audiences"
KEY = ("page_0", "aud_1")
PAYLOAD = {"event": "page.version.published", "pageId": "page_0", "audienceId": "aud_1"}
SECRET = new_secret()

Send: TypeAlias = Callable[..., HttpResponse]


@pytest.fixture
def service(db: None, fake_service: FakeService, clock: Clock) -> PublishingAudiences:
    """A service that queues published versions."""
    fake_service.answer = service = PublishingAudiences(is_fast=False)
    return service


@pytest.fixture
def real_service(service: PublishingAudiences, settings: Any) -> Iterator[PublishingAudiences]:
    """The same service on a socket, for reads only."""
    with service.served() as load:
        settings.SERVICE_TRANSPORT, settings.SERVICE_URL = None, load.url
        settings.SERVICE_API_KEY = "a-key-of-this-test"
        yield service
        close_publishing_client()


@pytest.fixture
def release(publish: Publish, service: PublishingAudiences) -> Release:
    """A running release with a queued version, a second after it was sent."""
    release = publish(1)
    run_pending("worker")
    assert states(release) == [ItemState.IN_PROGRESS]
    service.paths.clear()
    return release


@pytest.fixture
def receiver(as_administrator: Client) -> Receiver:
    """The receiver, turned on by an administrator, without required signatures."""
    as_administrator.post("/hooks/", {"do": "on"})
    return Receiver.objects.get()


@pytest.fixture
def send(receiver: Receiver) -> Send:
    """Delivers a body to the receiver, signed if a secret is given."""
    factory, numbers = RequestFactory(), count()

    def deliver(body: Any = PAYLOAD, *, secret: str = "", **headers: str) -> HttpResponse:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = (
            signed_headers(secret, f"msg_{next(numbers)}", datetime.now(UTC), content)
            if secret
            else {}
        )
        request = factory.post(
            "/", content, content_type="application/json", headers=signed | headers
        )
        return hook(request, receiver.secret)

    return deliver


@pytest.fixture
def signed(as_administrator: Client, receiver: Receiver) -> str:
    """The signing secret that the receiver requires."""
    as_administrator.post("/hooks/", {"do": "sign", "signing_secret": SECRET})
    return SECRET


def calls(service: PublishingAudiences) -> int:
    return service.paths.count(LIST)


def recorded() -> list[Any]:
    """Return everything in the ledger and the releases, except when it was last read."""
    models = (PageRecord, AudienceRecord, VersionRecord, Operation, Release, ReleaseItem)
    rows = [row for model in models for row in model._default_manager.order_by("pk").values()]
    return [{k: v for k, v in row.items() if k != "last_seen_at"} for row in rows]


def test_an_event_makes_an_item_live_within_two_seconds(
    release: Release, real_service: PublishingAudiences, send: Send, signed: str, clock: Clock
) -> None:
    clock.advance(1)
    real_service.go_live(KEY, release.items.get().version_id)
    assert send(secret=signed).status_code == 200
    clock.advance(1)  # the longest wait of a worker
    read_hinted("worker")
    run_pending("worker")
    release.refresh_from_db()
    assert (release.state, states(release)) == (ReleaseState.FINISHED, [ItemState.LIVE])
    assert calls(real_service) == 2


def test_an_event_about_nothing_new_wakes_no_release(
    release: Release, service: PublishingAudiences, send: Send, clock: Clock
) -> None:
    clock.advance(5)
    run_pending("worker")
    release.refresh_from_db()
    before, wake_at = calls(service), release.wake_at
    clock.advance(2)
    send()
    read_hinted("worker")
    release.refresh_from_db()
    assert (calls(service), release.wake_at) == (before + 1, wake_at)


@pytest.mark.parametrize("columns", [{"pause_reason": "429"}, {"worker_id": "another"}])
def test_a_paused_or_claimed_release_is_not_woken(
    release: Release,
    service: PublishingAudiences,
    send: Send,
    clock: Clock,
    columns: dict[str, str],
) -> None:
    Release.objects.update(**columns)
    release.refresh_from_db()
    service.go_live(KEY, release.items.get().version_id)
    clock.advance(1)
    send()
    read_hinted("worker")
    assert Release.objects.get().wake_at == release.wake_at
    assert (
        VersionRecord.objects.get(version_id=release.items.get().version_id).status == "published"
    )


@pytest.mark.parametrize(
    "body", [PAYLOAD, {"type": "x", "data": PAYLOAD}, {"audience_id": "aud_1"}]
)
def test_ids_are_found_wherever_a_service_puts_them(
    release: Release, service: PublishingAudiences, send: Send, body: Any
) -> None:
    send(body)
    read_hinted("worker")
    assert service.paths == [LIST]


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (PAYLOAD, "read"),
        (PAYLOAD | {"pageId": "../../persons"}, "not_known"),
        ({"event": "page.version.published"}, ""),
        (PAYLOAD | {"event": "form.submitted"}, ""),
        (b"no JSON", ""),
    ],
)
def test_a_delivery_says_what_followed(
    release: Release, send: Send, as_administrator: Client, body: Any, result: str
) -> None:
    send(body)
    assert ReceivedDelivery.objects.get().hint == result
    label = ReceivedDelivery.objects.get().get_hint_display()
    assert label in as_administrator.get("/hooks/").text


def test_one_sender_has_a_page_read_once_a_second(
    release: Release, service: PublishingAudiences, send: Send, signed: str, clock: Clock
) -> None:
    for _ in range(20):
        for _ in range(5):
            assert send(secret=signed).status_code == 200
        read_hinted("worker")
        read_hinted("another")
        clock.advance(0.5)
    assert calls(service) == 10


def forged(number: int) -> tuple[Any, dict[str, str]]:
    """Return the body and headers of a sender who knows the URL and some ids but no secret."""
    text = PAYLOADS[number % len(PAYLOADS)]
    at = str(int(datetime.now(UTC).timestamp()))
    bodies: list[Any] = [
        *(PAYLOAD, PAYLOAD | {"event": f"event.{number}"}, PAYLOAD | {"audienceId": text}),
        *({"pageId": text, "audienceId": text}, [PAYLOAD] * 20, b"[" * 5_000, b"\xff\x00"),
        PAYLOAD | {"pageId": f"page_{number}", "status": "published", "versionNumber": 10**30},
    ]
    signature = ("", "v1,AAAA", "v1", "v1,é", "v1a,x v1,%%", text)[number % 6]
    headers = {"webhook-id": "msg_1", "webhook-timestamp": at, "webhook-signature": signature}
    return bodies[number % len(bodies)], headers


def deliveries(request: pytest.FixtureRequest) -> Iterator[int]:
    """Yield 300 numbers, or 10,000 with `--exhaustive`; reset the rate limits after each 50."""
    for number in range(10_000 if request.config.getoption("exhaustive") else 300):
        if number % 50 == 0:
            OF_PROCESS.clear()
        yield number


def test_forged_signatures_change_nothing(
    request: pytest.FixtureRequest,
    release: Release,
    service: PublishingAudiences,
    send: Send,
    signed: str,
) -> None:
    before = recorded()
    for number in deliveries(request):
        body, headers = forged(number)
        assert send(body, **headers).status_code == 401
    read_hinted("worker")
    assert (recorded(), service.paths) == (before, [])
    for model in (ReceivedDelivery, PageHint, DeviationRecord):
        assert not model._default_manager.exists()


def test_hostile_unsigned_events_cause_few_reads(
    request: pytest.FixtureRequest,
    release: Release,
    service: PublishingAudiences,
    send: Send,
    clock: Clock,
) -> None:
    ReleaseItem.objects.update(checked_at=timezone.now())
    AudienceRecord.objects.update(changed_at=timezone.now())
    before, seconds = recorded(), 0.0
    for number in deliveries(request):
        body, _ = forged(number)
        assert send(body).status_code == 200
        if number % 50 == 0:
            read_hinted("worker")
            clock.advance(0.25)
            seconds += 0.25
    assert recorded() == before
    assert {*service.paths} == {LIST}
    assert 1 < calls(service) <= seconds + 1
    assert PageHint.objects.count() == 1
    assert DeviationRecord.objects.count() <= 20


def test_the_limits_of_a_minute_hold_signed_or_not(
    send: Send, signed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)
    unsigned = [send(b"{}").status_code for _ in range(MAX_PER_MINUTE + 1)]
    assert unsigned[-1] == 429
    assert {*unsigned[:-1]} == {401}
    assert send({}, secret=signed).status_code == 200
    assert MAX_SIGNED_PER_MINUTE > MAX_PER_MINUTE


def test_pages_of_a_silent_service_are_read_later(
    release: Release,
    service: PublishingAudiences,
    fake_service: FakeService,
    send: Send,
    clock: Clock,
) -> None:
    fake_service.fails(httpx.ConnectError)
    send()
    for _ in range(30):
        read_hinted("worker")
        clock.advance(5)
    assert len(fake_service.sent) < 60
    assert not PageHint.objects.filter(wake_at__isnull=False).exists()


def test_a_rate_limited_worker_pauses(
    release: Release, service: PublishingAudiences, send: Send
) -> None:
    service.responses[LIST] = httpx.Response(429, headers={"Retry-After": "40"})
    send()
    assert read_hinted("worker") == 40
    service.responses[LIST] = httpx.Response(429, headers={"Retry-After": "4000"})
    send()
    PageHint.objects.update(wake_at=timezone.now())
    assert read_hinted("worker") == 60


def test_a_page_that_is_gone_is_left_alone(
    release: Release, service: PublishingAudiences, send: Send, clock: Clock
) -> None:
    service.responses[LIST] = httpx.Response(404)
    send()
    read_hinted("worker")
    clock.advance(10)
    read_hinted("worker")
    assert calls(service) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_page_is_claimed_while_it_is_read(
    service: PublishingAudiences, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "RENEWED_AFTER", timedelta(seconds=0.05))
    service.add(1, page_id="page_0")
    take_hint("page_0", "aud_1", timezone.now())

    def wait_for_a_renewal() -> None:
        until, tick = PageHint.objects.get().wake_at, threading.Event()
        clock.advance(1)
        # Check only now and then, because a read makes SQLite in memory refuse a writer.
        for _ in range(200):
            if PageHint.objects.get().wake_at != until:
                return
            tick.wait(0.1)
        raise AssertionError("the claim was not renewed")

    service.before = wait_for_a_renewal
    read_hinted("slow")
    assert PageHint.objects.get().wake_at is None
    assert PageHint.objects.get().read_at


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_worker_reads_until_it_is_stopped(service: PublishingAudiences) -> None:
    service.add(1, page_id="page_0")
    stop, arrived = threading.Event(), threading.Event()
    service.before = arrived.set
    take_hint("page_0", "aud_1", timezone.now())
    thread = Thread(target=run_worker, args=("worker", stop), kwargs={"tasks": [FOLLOW_HINTS]})
    thread.start()
    assert arrived.wait(30)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert PageHint.objects.get().wake_at is None
