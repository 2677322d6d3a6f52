"""One digest each morning with what is followed or unread, and none if there is nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.notifications import inbox
from dashboard.notifications.digests import due_day, make_digests
from dashboard.notifications.models import Delivery, Event, Notification, Preference
from dashboard.notifications.preferences import follow, save_settings
from dashboard.notifications.sending import deliver_pending
from tests.notifications.conftest import Fail
from tests.support.clock import Clock, stopped
from tests.support.mail_server import MailServer

EVENING = datetime(2026, 3, 2, 20, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of day, which starts at eight in the evening."""
    return stopped(monkeypatch, at=EVENING)


@pytest.fixture
def _by_bell_only(paula: User, ada: User) -> None:
    for user in (paula, ada):
        Preference.objects.create(user=user, kind="publish_failed", channel="email", is_on=False)


def to_morning(clock: Clock, hours: float = 12) -> int:
    """Advance to the next morning, and create and send digests; return the number of digests."""
    clock.advance(hours * 3600)
    created = sum(make_digests(timezone.now()) for _ in range(3))
    deliver_pending("worker-1")
    return created


@pytest.mark.usefixtures("_by_bell_only")
def test_unread_notices_are_sent_once_in_the_morning(
    fail: Fail, clock: Clock, mail_server: MailServer
) -> None:
    fail(1)
    fail(2)
    to_morning(clock)
    to_morning(clock, hours=24)
    [mail] = mail_server.received
    assert mail["Subject"] == "Your morning summary: 2 notifications"
    assert "/activity/pr-1/" in mail.get_content()


@pytest.mark.usefixtures("_by_bell_only")
def test_a_late_committed_event_is_in_the_next_digest(
    fail: Fail, clock: Clock, mail_server: MailServer
) -> None:
    fail(1)
    to_morning(clock)
    late = fail(2)
    Event.objects.filter(pk=late.pk).update(at=late.at - timedelta(minutes=1))
    to_morning(clock, hours=24)
    to_morning(clock, hours=24)
    first, second = (mail.get_content() for mail in mail_server.received)
    assert "/activity/pr-1/" in first
    assert "/activity/pr-2/" in second
    assert "/activity/pr-1/" not in second


@pytest.mark.usefixtures("_by_bell_only", "mail_server")
def test_read_notifications_are_not_e_mailed(fail: Fail, clock: Clock, paula: User) -> None:
    fail()
    inbox.mark_all_read(paula, until=Notification.objects.latest("pk").pk)
    assert to_morning(clock) == 0
    assert not Delivery.objects.exists()


@pytest.mark.usefixtures("_by_bell_only")
def test_followed_changes_arrive_with_the_bell_off(
    fail: Fail, clock: Clock, mail_server: MailServer, ada: User
) -> None:
    follow(ada, "page_1")
    Preference.objects.create(user=ada, kind="publish_failed", channel="in_app", is_on=False)
    fail()
    to_morning(clock)
    assert {mail["To"] for mail in mail_server.received} == {
        *("ada@kestrel.example", "paula@kestrel.example")
    }


@pytest.mark.usefixtures("_by_bell_only", "mail_server")
def test_without_a_digest_there_is_none(fail: Fail, clock: Clock, paula: User) -> None:
    save_settings(
        paula, time_zone="UTC", quiet_from=None, quiet_to=None, has_digest=False, digest_hour=8
    )
    fail()
    assert to_morning(clock) == 0


@pytest.mark.usefixtures("_by_bell_only")
def test_without_email_there_is_none(fail: Fail, clock: Clock) -> None:
    fail()
    assert to_morning(clock) == 0


@pytest.mark.same_on_any_database
@pytest.mark.parametrize(
    ("now", "zone", "hour", "day"),
    [
        ("2026-03-03T07:59", "UTC", None, None),
        ("2026-03-03T08:00", "UTC", None, 3),
        ("2026-03-03T11:59", None, None, 3),
        ("2026-03-03T12:00", "UTC", None, None),
        ("2026-03-03T07:00", "Europe/Berlin", None, 3),
        ("2026-03-03T06:59", "Europe/Berlin", None, None),
        ("2026-03-03T18:30", "Asia/Tokyo", 3, 4),
        ("2026-03-03T23:30", "UTC", 22, 3),
    ],
)
def test_a_digest_is_due_within_four_hours(
    now: str, zone: str | None, hour: int | None, day: int | None
) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    due = due_day(moment, zone, hour, None)
    assert (due.day if due else None) == day
    if due:
        assert due_day(moment, zone, hour, due) is None
        assert due_day(moment, zone, hour, due - timedelta(days=1)) == due
