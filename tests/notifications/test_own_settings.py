"""A user's bell, notification matrix, quiet hours and webhook targets."""

from datetime import time, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from dashboard.notifications import inbox, outbox, targets
from dashboard.notifications.kinds import KINDS, TEAM_KINDS
from dashboard.notifications.models import (
    Delivery,
    DeliveryItem,
    DeliveryState,
    Event,
    Notification,
    NotificationError,
    WebhookTarget,
)
from dashboard.notifications.preferences import (
    MAX_FOLLOWS,
    follow,
    save_matrix,
    save_settings,
)
from dashboard.notifications.sending import deliver_pending
from tests.notifications.conftest import Fail, Work
from tests.support.clock import Clock
from tests.support.hook_receiver import HookReceiver
from tests.support.mail_server import MailServer

URL = "https://hooks.example.com/1"


def test_the_bell_counts_what_is_unread(
    fail: Fail, paula: User, vera: User, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        fail(number)
    inbox.unread_count(paula)
    with django_assert_num_queries(1):
        assert inbox.unread_count(paula) == 3
    first = inbox.list_notifications(paula).last()
    assert first
    assert inbox.mark_read(vera, [first.pk]) == 0
    assert inbox.mark_read(paula, [first.pk]) == 1
    assert inbox.unread_count(paula) == 2
    assert inbox.unread_count(vera) == 0


def test_a_channel_that_is_off_is_silent(
    fail: Fail, work: Work, paula: User, mail_server: MailServer
) -> None:
    save_matrix(paula, {("publish_failed", "email")})
    fail()
    work()
    assert len(mail_server.received) == 1
    assert inbox.unread_count(paula) == 0


SETTINGS: dict[str, Any] = {
    "time_zone": "Europe/Berlin",
    "quiet_from": time(22),
    "quiet_to": time(7),
    "has_digest": False,
    "digest_hour": 8,
}


def test_in_quiet_hours_only_own_failures_are_sent(
    fail: Fail, paula: User, ada: User, mail_server: MailServer, clock: Clock
) -> None:
    to_night = 23 * 3600 - (timezone.now() - timezone.now().replace(hour=0)).total_seconds()
    clock.advance(to_night)
    for user in (paula, ada):
        save_settings(user, **(SETTINGS | {"time_zone": "UTC"}))
    follow(ada, "page_1")
    fail()
    for _ in range(2):
        clock.advance(60)
        deliver_pending("worker-1")
    assert [mail["To"] for mail in mail_server.received] == ["paula@kestrel.example"]
    clock.advance(8 * 3600)
    deliver_pending("worker-1")
    assert mail_server.received[-1]["To"] == "ada@kestrel.example"


def add(user: User, **differs: Any) -> WebhookTarget:
    values = {"is_team": False, "name": "Desk", "url": URL, "format": "standard"} | differs
    return targets.add_target(user, **values)


def test_a_secret_is_made_and_stored_encrypted(paula: User, settings: Any) -> None:
    target = add(paula)
    secret = targets.reveal_secret(target)
    assert secret.startswith("whsec_")
    assert secret not in target.secret
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "z" * 50, []
    assert targets.reveal_secret(target) == ""


def test_team_and_personal_webhooks_get_their_own_kinds(
    fail: Fail, work: Work, ada: User, receiver: HookReceiver
) -> None:
    add(ada, url=f"{receiver.url}/own")
    team = add(ada, url=receiver.url, is_team=True)
    assert team.kinds == TEAM_KINDS
    fail()
    work()
    assert len(receiver.received) == 1
    targets.change_target(team, name="Desk", url=receiver.url, is_active=True, kinds=[])
    fail(2)
    work()
    assert len(receiver.received) == 1


def test_a_test_message_is_sent_once_by_the_worker(ada: User, receiver: HookReceiver) -> None:
    target = add(ada, url=receiver.url, format="slack")
    receiver.responses = [(404, {})]
    assert targets.begin_test(target, ada)
    assert not targets.begin_test(target, ada)
    assert not receiver.received
    deliver_pending("worker-1")
    failed = targets.last_test(target, ada)
    assert failed
    assert (failed.state, failed.problem) == ("given_up", "The receiver responded 404.")
    assert targets.begin_test(target, ada)
    deliver_pending("worker-1")
    assert Delivery.objects.get().state == "sent"
    assert receiver.received[-1].json["text"].startswith("This is a test message from Pressroom.")
    assert not outbox.list_deliveries()


def test_what_can_be_followed_has_an_end(vera: User) -> None:
    for number in range(MAX_FOLLOWS):
        follow(vera, f"page_{number}")
    follow(vera, "page_0")
    with pytest.raises(NotificationError, match="maximum"):
        follow(vera, "one_more")


def test_each_kind_has_words_for_every_part(db: None) -> None:
    assert all(kind.label and kind.group and kind.recipients for kind in KINDS.values())
    assert all(kind.sentence.endswith(".") for kind in KINDS.values())


@pytest.mark.usefixtures("mail_server")
def test_pruning_keeps_unsent_notifications(
    fail: Fail, work: Work, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    fail(1)
    work()
    clock.advance(timedelta(days=40).total_seconds())
    fail(2)
    call_command("prune", "--older-than", "30")
    assert "events with their notifications: 1;" in capsys.readouterr().out
    assert Event.objects.get().key == "operation:2:rejected"
    assert Notification.objects.count() == 1
    assert not Delivery.objects.exists()
    assert DeliveryItem.objects.get().delivery is None


def test_old_messages_are_not_sent_after_a_restore(
    fail: Fail, work: Work, clock: Clock, mail_server: MailServer
) -> None:
    fail(1)
    mail_server.stop()
    work()
    fail(2)
    call_command("after_restore", verbosity=0)
    mail_server.start()
    work(10)
    assert not mail_server.received
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.DROPPED}
    for delivery in outbox.list_deliveries():
        assert outbox.send_again(delivery)
    work()
    assert len(mail_server.received) == 2
    assert outbox.delivery_counts() == {"sent": 2}
