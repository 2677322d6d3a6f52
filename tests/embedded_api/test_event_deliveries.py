"""Deliveries are signed, retried for a day, and stop when a subscription ends."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from dashboard.clock import CLAIM
from dashboard.embedded_api import signing
from dashboard.embedded_api.deliveries import delete_old, deliver_pending, send_again
from dashboard.embedded_api.events import announce_due
from dashboard.embedded_api.models import (
    EventDeliveryState,
    SigningSecret,
    Subscription,
    WebhookDelivery,
    WebhookEvent,
)
from dashboard.encryption import decrypt
from dashboard.work.claims import BACK_OFF, claim_next
from tests.conftest import logged_in
from tests.support.clock import Clock
from tests.support.embedded_api_factories import make_subscription, make_version
from tests.support.hook_receiver import HookReceiver
from tests.support.html import elements

CREATED = "page.version.created"
WAITING, DELIVERED = EventDeliveryState.WAITING, EventDeliveryState.DELIVERED
GIVEN_UP, NOT_SENT = EventDeliveryState.GIVEN_UP, EventDeliveryState.NOT_SENT


@pytest.fixture
def subscription(receiver: HookReceiver, db: None) -> Subscription:
    """The receiver's subscription to new versions; a version was just created."""
    subscription = make_subscription(url=receiver.url, events=[CREATED])
    make_version()
    return subscription


def delivery() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def work(clock: Clock, *, hours: float) -> None:
    """Run a worker for so many hours, at each time when something is due."""
    end = timezone.now() + timedelta(hours=hours)
    while timezone.now() < end:
        deliver_pending("worker-1")
        due_at = WebhookDelivery.objects.get().wake_at or end
        clock.advance((min(due_at, end) - timezone.now()).total_seconds())


def test_a_delivery_is_signed_with_its_subscription_secret(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    deliver_pending("worker-1")
    (got,) = receiver.received
    secret = signing.reveal(subscription.signing_secret)
    assert secret.startswith("whsec_")
    assert Webhook(secret).verify(got.body, got.headers)["type"] == CREATED
    assert got.headers["webhook-id"] == got.json["id"] == WebhookEvent.objects.get().event_id
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "A" * 44).verify(got.body, got.headers)
    assert (delivery().state, delivery().status_code) == (DELIVERED, 204)


def test_the_secret_is_stored_encrypted(subscription: Subscription) -> None:
    row = SigningSecret.objects.get()
    assert signing.reveal(row) not in row.encrypted


def test_the_previous_secret_verifies_for_a_day(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    old = signing.reveal(subscription.signing_secret)
    signing.rotate(subscription.signing_secret, timezone.now())
    deliver_pending("worker-1")
    got = receiver.received[0]
    for secret in (old, signing.reveal(SigningSecret.objects.get())):
        assert Webhook(secret).verify(got.body, got.headers)
    SigningSecret.objects.update(rotated_at=timezone.now() - timedelta(days=1))
    make_version()
    deliver_pending("worker-1")
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(receiver.received[1].body, receiver.received[1].headers)


def test_a_failed_delivery_is_retried_with_its_id(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    receiver.responses = [(503, {}), (302, {"Location": "/elsewhere"}), (200, {})]
    work(clock, hours=1)
    assert [delivery.headers["webhook-id"] for delivery in receiver.received] == [
        WebhookEvent.objects.get().event_id
    ] * 3
    assert {delivery.body for delivery in receiver.received} == {receiver.received[0].body}
    attempts = delivery().attempts
    assert [*attempts.values_list("status_code", flat=True)] == [503, 302, 200]
    assert delivery().state == DELIVERED


def test_it_is_given_up_after_a_day(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    receiver.stop()
    work(clock, hours=30)
    times = [*delivery().attempts.values_list("at", flat=True)]
    waits = [after - before for before, after in pairwise(times)]
    assert tuple(waits[: len(BACK_OFF)]) == BACK_OFF
    assert timedelta(hours=23) < times[-1] - times[0] <= timedelta(days=1)
    assert delivery().state == GIVEN_UP
    assert "connect" in delivery().problem


def test_a_receiver_that_is_gone_gets_no_other_attempt(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    receiver.responses = [(410, {})]
    deliver_pending("worker-1")
    assert (delivery().state, delivery().status_code) == (GIVEN_UP, 410)


def test_retry_after_is_respected(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    receiver.responses = [(429, {"Retry-After": "900"})]
    deliver_pending("worker-1")
    assert delivery().wake_at == timezone.now() + timedelta(seconds=900)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"active": False}, "The subscription is turned off."),
        ({"events": []}, "The subscription no longer selects this event."),
        (None, "The subscription was deleted."),
    ],
)
def test_what_a_subscription_no_longer_wants_is_not_sent(
    receiver: HookReceiver, subscription: Subscription, change: dict[str, Any] | None, problem: str
) -> None:
    announce_due(timezone.now())
    rows = Subscription.objects.filter(pk=subscription.pk)
    if change:
        rows.update(**change)
    else:
        rows.delete()
    deliver_pending("worker-1")
    assert (delivery().state, delivery().problem) == (NOT_SENT, problem)
    assert (receiver.received, delivery().attempt_count) == ([], 0)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://hooks.example.com/", "https"),
        ("https://10.0.0.7/", "public internet"),
        ("https://localhost/", "public internet"),
    ],
)
def test_production_sends_only_to_the_public_internet(db: None, url: str, problem: str) -> None:
    make_subscription(url=url, events=[CREATED])
    make_version()
    deliver_pending("worker-1")
    assert (delivery().state, delivery().attempt_count) == (GIVEN_UP, 1)
    assert problem in delivery().problem


def test_one_that_does_not_respond_delays_no_other(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    dead = make_subscription(url="http://127.0.0.1:1/", events=[CREATED])
    make_version()
    deliver_pending("worker-1")
    make_version()
    deliver_pending("worker-1")
    to_dead = WebhookDelivery.objects.filter(subscription=dead)
    assert sorted(to_dead.values_list("attempt_count", flat=True)) == [0, 0, 1]
    assert len(receiver.received) == 3


def test_a_claim_is_one_workers_until_it_ends(subscription: Subscription, clock: Clock) -> None:
    announce_due(timezone.now())
    deliveries = WebhookDelivery.objects.all()
    assert claim_next(deliveries, "worker-1", timezone.now())
    assert claim_next(deliveries, "worker-2", timezone.now()) is None
    clock.advance(CLAIM.total_seconds())
    assert claim_next(deliveries, "worker-2", timezone.now())


def test_old_events_are_deleted_but_those_that_wait(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    deliver_pending("worker-1")
    clock.advance(31 * 86_400)
    make_version()
    announce_due(timezone.now())
    delete_old(timezone.now())
    assert delivery().state == WAITING
    clock.advance(31 * 86_400)
    delete_old(timezone.now())
    assert delivery().state == WAITING


def test_looking_for_what_is_due_takes_three_queries(
    db: None, django_assert_num_queries: Callable[[int], Any]
) -> None:
    with django_assert_num_queries(3):
        deliver_pending("idle")


def staff(*codenames: str) -> Client:
    """Return a browser of a staff user with these permissions."""
    user = User.objects.create_user("sam", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return logged_in(user)


def run_action(browser: Client, model: str, action: str, number: Any) -> str:
    form = {"action": action, "_selected_action": [str(number)]}
    path = reverse(f"admin:embedded_api_{model}_changelist")
    return str(browser.post(path, form, follow=True).text)


def test_the_admin_shows_attempts_and_sends_again(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    receiver.responses = [(410, {})]
    deliver_pending("worker-1")
    browser = staff("view_webhookdelivery", "change_webhookdelivery", "view_webhookdeliveryattempt")
    path = reverse("admin:embedded_api_webhookdelivery_change", args=[delivery().pk])
    assert "The receiver responded 410: it no longer exists." in browser.get(path).text
    page = run_action(browser, "webhookdelivery", "send_again", delivery().pk)
    assert "Deliveries queued: 1." in page
    deliver_pending("worker-1")
    assert delivery().state == DELIVERED
    assert len({delivery.headers["webhook-id"] for delivery in receiver.received}) == 1


def test_users_who_may_only_view_can_not_send_again(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    deliver_pending("worker-1")
    run_action(staff("view_webhookdelivery"), "webhookdelivery", "send_again", delivery().pk)
    assert delivery().state == DELIVERED


def test_only_users_who_may_change_it_see_the_secret(subscription: Subscription) -> None:
    secret = signing.reveal(subscription.signing_secret)
    path = reverse("admin:embedded_api_signingsecret_change", args=[subscription.pk])
    browser = staff("view_signingsecret")
    assert secret not in browser.get(path).text
    sam = User.objects.get(username="sam")
    sam.user_permissions.add(Permission.objects.get(codename="change_signingsecret"))
    assert secret in browser.get(path).text
    assert "Secrets rotated: 1." in run_action(browser, "signingsecret", "rotate", subscription.pk)
    assert signing.reveal(SigningSecret.objects.get()) != secret


def test_pressing_twice_rotates_the_secret_once(subscription: Subscription) -> None:
    old = signing.reveal(subscription.signing_secret)
    browser = staff("view_signingsecret", "change_signingsecret")
    path = reverse("admin:embedded_api_signingsecret_changelist")
    [key] = {
        field.attributes["value"]
        for field in elements(browser.get(path).text, "input")
        if field.attributes.get("name") == "form_key"
    }
    form = {"action": "rotate", "_selected_action": [str(subscription.pk)], "form_key": key}
    browser.post(path, form)
    browser.post(path, form)
    assert decrypt(SigningSecret.objects.get().previous_encrypted) == old


def test_view_only_staff_never_see_the_receivers_secret(subscription: Subscription) -> None:
    Subscription.objects.update(url="https://pressroom.example/hooks/s3cret-one/")
    WebhookDelivery.objects.update(url="https://pressroom.example/hooks/s3cret-one/")
    models = ("subscription", "webhookdelivery", "signingsecret")
    browser = staff(*(f"view_{model}" for model in models))
    detail = reverse("admin:embedded_api_subscription_change", args=[subscription.pk])
    for model in models:
        path = reverse(f"admin:embedded_api_{model}_changelist")
        assert "s3cret" not in browser.get(path).text
        assert "/change/" not in browser.get(path, {"q": "hooks/s3"}).text
    assert "hooks/…" in (page := browser.get(detail).text)
    assert "s3cret" not in page
    sam = User.objects.get(username="sam")
    sam.user_permissions.add(Permission.objects.get(codename="change_subscription"))
    assert "hooks/s3cret-one/" in browser.get(detail).text


def test_old_messages_are_not_sent_after_a_restore(
    receiver: HookReceiver, subscription: Subscription, clock: Clock
) -> None:
    receiver.responses = [(500, {})]
    deliver_pending("worker-1")
    receiver.received.clear()
    make_version()  # Its event is not announced yet.
    call_command("after_restore", verbosity=0)
    clock.advance(timedelta(days=1).total_seconds())
    deliver_pending("worker-1")
    assert not receiver.received
    assert {item.state for item in WebhookDelivery.objects.all()} == {NOT_SENT}
    assert send_again(WebhookDelivery.objects.all()) == 2
    deliver_pending("worker-1")
    assert len(receiver.received) == 2


def test_what_occurs_after_a_restore_is_sent(
    receiver: HookReceiver, subscription: Subscription
) -> None:
    call_command("after_restore", verbosity=0)
    new = make_version()
    deliver_pending("worker-1")
    (got,) = receiver.received
    assert got.json["data"]["versionId"] == new.pk
