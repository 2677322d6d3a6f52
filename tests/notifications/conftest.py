"""A stopped clock, a mail server, a webhook receiver, and events to deliver."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.notifications.kinds import sentence
from dashboard.notifications.models import Event, Notification
from dashboard.notifications.recipients import notify_pending
from dashboard.notifications.recording import Subject, record_event
from dashboard.notifications.sending import deliver_pending
from tests.support.clock import Clock, stopped
from tests.support.mail_server import MailServer

Fail: TypeAlias = Callable[..., Event]
Work: TypeAlias = Callable[..., None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of day, which the test advances. The monotonic clock goes on."""
    return stopped(monkeypatch)


@pytest.fixture
def paula(paula: User) -> User:
    """Paula, with an e-mail address."""
    paula.email = "paula@kestrel.example"
    paula.save()
    return paula


@pytest.fixture
def ada(ada: User) -> User:
    """Ada, with an e-mail address."""
    ada.email = "ada@kestrel.example"
    ada.save()
    return ada


@pytest.fixture
def _email_on(settings: Any) -> None:
    """E-mails go to Django's test outbox."""
    settings.EMAIL_IS_ON = True


@pytest.fixture
def mail_server(settings: Any, _email_on: None) -> Iterator[MailServer]:
    """A running, real mail server that receives the e-mails."""
    server = MailServer()
    settings.EMAIL_BACKEND = "dashboard.notifications.email.SMTPBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    server.start()
    yield server
    server.stop()


@pytest.fixture
def fail(paula: User) -> Fail:
    """Makes a publish of Paula's fail and a worker notify; `number` identifies it."""

    def make(number: int = 1, user: User = paula) -> Event:
        key = f"operation:{number}:rejected"
        record_event(
            "publish_failed",
            key,
            Subject(f"/activity/pr-{number}/", page_id="page_1", audience_id=f"aud_{number}"),
            {"doing": f"Publishing version {number} of Hanseatic"},
            actor=user,
            owners=[user],
        )
        notify_pending("worker-1")
        return Event.objects.get(key=key)

    return make


@pytest.fixture
def work(clock: Clock) -> Work:
    """Runs a worker's deliveries for so many minutes, every five seconds by default."""

    def run(minutes: float = 1, *, every_s: float = 5) -> None:
        for _ in range(round(minutes * 60 / every_s)):
            clock.advance(every_s)
            deliver_pending("worker-1")

    return run


def seconds_since(event: Event) -> float:
    """Return the age of an event in seconds."""
    return (timezone.now() - event.at).total_seconds()


def notices_of(user: User) -> list[str]:
    """Let a worker notify, and return a user's notifications as text."""
    notify_pending("worker-1")
    notifications = Notification.objects.filter(user=user).select_related("event").order_by("pk")
    return [sentence(item.event.kind, item.event.facts) for item in notifications]
