"""Delivery to a real mail server and a real receiver, which are killed and restarted."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from standardwebhooks import Webhook

from dashboard.clock import CLAIM
from dashboard.notifications import targets
from dashboard.notifications.messages import words_of
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryState,
    Event,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.outbox import bundle, send_again
from dashboard.notifications.sending import deliver_pending, send, turn_off
from dashboard.work.claims import claim_next
from tests.notifications.conftest import Fail, Work
from tests.support.clock import Clock
from tests.support.hook_receiver import HookReceiver
from tests.support.mail_server import MailServer, dribbling_mail_server
from tests.support.seeding import seed_target

STANDARD, SLACK = WebhookFormat.STANDARD, WebhookFormat.SLACK


def target(user: User, url: str, format: str = STANDARD) -> WebhookTarget:  # noqa: A002
    return targets.add_target(user, is_team=False, name="Desk", url=url, format=format)


def test_an_email_says_what_happened_and_where(
    fail: Fail, work: Work, mail_server: MailServer
) -> None:
    fail()
    work()
    [mail] = mail_server.received
    assert mail["Subject"] == "Publishing version 1 of Hanseatic failed"
    assert mail["To"] == "paula@kestrel.example"
    assert "http://testserver/activity/pr-1/" in mail.get_content()
    assert mail["List-Unsubscribe"].startswith("<http://testserver/")


def test_many_failures_in_a_minute_make_one_message(
    fail: Fail, work: Work, mail_server: MailServer, clock: Clock, pytestconfig: pytest.Config
) -> None:
    count = 200 if pytestconfig.getoption("exhaustive") else 40
    for number in range(count):
        clock.advance(50 / count)
        fail(number)
        if number % (count // 10) == 0:
            deliver_pending("worker-1")
    work()
    [mail] = mail_server.received
    assert mail["Subject"] == f"Publishing version 0 of Hanseatic failed, and {count - 1} more"
    text = mail.get_content()
    assert text.count("failed.") == 14
    assert f"And {count - 14} more:" in text


def test_an_endless_burst_is_held_for_a_minute(
    fail: Fail, work: Work, mail_server: MailServer
) -> None:
    for number in range(24):
        fail(number)
        work(1 / 12)
    assert len(mail_server.received) == 2


@pytest.mark.usefixtures("mail_server")
def test_a_trickling_mail_server_is_abandoned(fail: Fail, work: Work, settings: Any) -> None:
    settings.EMAIL_TIMEOUT, soon_s = 0.2, 5
    fail()
    with dribbling_mail_server(at_most_s=2 * soon_s) as settings.EMAIL_PORT:
        began = time.monotonic()
        work()
        assert time.monotonic() - began < soon_s
    assert Delivery.objects.get().problem == "The mail server can’t be reached."


def test_an_hour_without_the_mail_server_loses_nothing(
    fail: Fail, work: Work, mail_server: MailServer, clock: Clock
) -> None:
    mail_server.stop()
    for number in range(6):
        fail(number)
        work(10, every_s=30)
    assert not mail_server.received
    mail_server.start()
    work(61, every_s=30)
    text = "".join(mail.get_content() for mail in mail_server.received)
    assert [text.count(f"/pr-{number}/") for number in range(6)] == [1] * 6
    assert len(mail_server.received) == 2  # the first failure, then all later ones


def test_a_message_has_the_same_id_in_each_attempt(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    desk = target(paula, receiver.url)
    receiver.responses = [(500, {}), (503, {})]
    fail()
    work(3)
    first, second, third = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body == third.body
    attempts = Delivery.objects.get(target=desk).attempt_log.order_by("pk")
    assert [attempt.status_code for attempt in attempts] == [500, 503, 204]
    Webhook(targets.reveal_secret(desk)).verify(third.body, {"webhook-id": "", **third.headers})


def test_a_killed_receiver_gets_it_when_it_is_back(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    target(paula, receiver.url)
    receiver.stop()
    fail()
    work(3)
    assert Delivery.objects.get(channel="webhook").problem.startswith("Couldn’t connect")
    receiver.start()
    work(11)
    [received] = receiver.received
    [event] = received.json["data"]["events"]
    assert event["text"] == "Publishing version 1 of Hanseatic failed."
    assert event["url"] == "http://testserver/activity/pr-1/"


def test_a_webhook_has_ids_names_and_a_link_only(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    target(paula, receiver.url)
    fail()
    work()
    [received] = receiver.received
    assert received.json["data"]["total"] == 1
    assert received.json["data"]["events"][0].keys() == {
        *("key", "kind", "at", "text", "url", "pageId", "audienceId")
    }


def test_slack_messages_escape_names(
    work: Work, receiver: HookReceiver, paula: User, fail: Fail
) -> None:
    target(paula, receiver.url, SLACK)
    event = fail()
    event.facts = {"doing": "Publishing <!channel> & <https://evil.example|x>\nof it"}
    event.save()
    work()
    [received] = receiver.received
    assert received.json == {
        "text": "Publishing &lt;!channel&gt; &amp; &lt;https://evil.example|x&gt; of it failed. "
        "<http://testserver/activity/pr-1/|Open>"
    }


@pytest.mark.django_db
def test_failures_of_an_old_url_keep_the_new_one_on() -> None:
    desk = seed_target()
    old = WebhookTarget.objects.get()
    WebhookTarget.objects.update(url="https://hooks.example.com/new")
    turn_off(old, "The receiver responded 410.")
    desk.refresh_from_db()
    assert desk.is_active


def test_a_receiver_gone_permanently_is_turned_off(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    desk = target(paula, receiver.url)
    receiver.responses = [(410, {})]
    fail()
    work(5)
    desk.refresh_from_db()
    assert (desk.is_active, len(receiver.received)) == (False, 1)
    assert desk.off_reason == "The receiver responded 410: it no longer exists."
    assert Delivery.objects.get(channel="webhook").state == DeliveryState.GIVEN_UP


def test_retry_after_is_respected_up_to_an_hour(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    target(paula, receiver.url)
    receiver.responses = [(429, {"Retry-After": "1200"}), (429, {"Retry-After": "999999"})]
    fail()
    work(19, every_s=30)
    assert len(receiver.received) == 1
    work(30, every_s=30)
    assert len(receiver.received) == 2
    work(60, every_s=30)
    assert len(receiver.received) == 3


def test_one_endpoint_that_is_away_does_not_delay_another(
    fail: Fail, work: Work, receiver: HookReceiver, paula: User
) -> None:
    other = HookReceiver()
    target(paula, other.url)
    target(paula, receiver.url)
    fail()
    work()
    assert len(receiver.received) == 1


def test_a_message_is_given_up_after_three_days(
    fail: Fail, work: Work, mail_server: MailServer, clock: Clock
) -> None:
    mail_server.stop()
    fail()
    work()
    for _ in range(80):
        clock.advance(3600)
        deliver_pending("worker-1")
    delivery = Delivery.objects.get(channel="email")
    assert (delivery.state, delivery.wake_at) == (DeliveryState.GIVEN_UP, None)
    mail_server.start()
    assert send_again(delivery)
    work()
    [mail] = mail_server.received
    assert delivery.message_id in mail["Message-ID"]


def test_a_rejected_message_does_not_delay_others(
    fail: Fail, work: Work, mail_server: MailServer, paula: User, ada: User
) -> None:
    mail_server.responses = ["554 rejected"]
    fail(1, paula)
    fail(2, ada)
    work(4 / 12)
    assert len(mail_server.received) == 1
    work(1)
    assert len(mail_server.received) == 2


def test_send_again_does_nothing_while_it_is_being_sent(fail: Fail, work: Work) -> None:
    now = timezone.now()
    claimed = Delivery.objects.create(
        channel="email",
        message_id="msg_1",
        created_at=now,
        retry_until=now,
        worker_id="worker-2",
        wake_at=now + timedelta(minutes=1),
    )
    assert not send_again(claimed)


def test_a_killed_worker_s_message_keeps_its_id(
    fail: Fail, receiver: HookReceiver, paula: User, clock: Clock
) -> None:
    target(paula, receiver.url)
    fail()
    clock.advance(30)
    bundle(Channel.WEBHOOK, timezone.now())
    claim = claim_next(Delivery.objects.all(), "worker-1", timezone.now())
    assert claim
    send(claim.row)  # The worker is killed here, before it can record the delivery.
    assert not deliver_pending("worker-2")
    clock.advance(CLAIM.total_seconds())
    assert deliver_pending("worker-2") == 1
    ids = [delivery.headers["webhook-id"] for delivery in receiver.received]
    assert ids == [claim.row.message_id] * 2


def test_a_user_who_was_turned_off_gets_no_email(
    fail: Fail, work: Work, paula: User, mail_server: MailServer
) -> None:
    fail()
    paula.is_active = False
    paula.save()
    work()
    assert not mail_server.received


@pytest.mark.parametrize("name", ["می\u200cخواهم", "क\u200d्ष", "👩\u200d👩\u200d👧 family"])
def test_joiners_stay_in_names(name: str) -> None:
    event = Event(kind="publish_failed", facts={"doing": f"Publishing {name}\u202e\n of Oslo"})
    assert words_of(event) == f"Publishing {name} of Oslo failed."
