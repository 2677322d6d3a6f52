"""Several workers share the outbox: each message is created once and sent once."""

from collections import Counter
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import OperationalError, connection
from django.utils import timezone

from dashboard.notifications.models import Delivery, DeliveryItem, Event, Notification
from dashboard.notifications.recipients import notify_pending
from dashboard.notifications.recording import Subject, record_event
from dashboard.notifications.sending import deliver_pending
from tests.support.at_once import at_once

USERS, WORKERS = 20, 4

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def users(settings: object) -> list[User]:
    """Users with e-mail addresses, with e-mails turned on."""
    settings.EMAIL_IS_ON = True  # type: ignore[attr-defined]
    return [
        User.objects.create(username=f"u{number}", email=f"u{number}@kestrel.example")
        for number in range(USERS)
    ]


def record(users: list[User]) -> None:
    record_event(
        "publish_failed",
        "operation:1:rejected",
        Subject("/activity/pr-1/"),
        {"doing": "Publishing version 1 of Hanseatic"},
        owners=users,
    )


def test_an_event_that_all_notice_is_recorded_once(users: list[User]) -> None:
    at_once(WORKERS, lambda _: record(users))
    at_once(WORKERS, lambda number: notify_pending(f"worker-{number}"))
    assert Event.objects.count() == 1
    assert Notification.objects.count() == DeliveryItem.objects.count() == USERS


def test_of_several_workers_one_sends_a_message(users: list[User]) -> None:
    record(users)
    notify_pending("worker-1")
    DeliveryItem.objects.update(due_at=timezone.now())

    def deliver(number: int) -> None:
        with suppress(OperationalError):
            deliver_pending(f"worker-{number}")

    at_once(WORKERS, deliver)
    # Try again what SQLite refused.
    DeliveryItem.objects.filter(delivery=None).update(due_at=timezone.now())
    Delivery.objects.exclude(wake_at=None).update(wake_at=timezone.now())
    deliver_pending("the last one")
    recipients = Counter(address for message in mail.outbox for address in message.to)
    assert recipients.keys() == {user.email for user in users}
    # SQLite in memory refuses a second writer at once, even one that records what it has sent. Such
    # a message is sent again.
    assert set(recipients.values()) <= ({1, 2} if connection.vendor == "sqlite" else {1})
