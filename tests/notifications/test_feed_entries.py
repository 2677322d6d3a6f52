"""A change of a user's notifications or webhooks is in the feed for that user only."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from dashboard.notifications.email_change import set_address
from dashboard.notifications.inbox import mark_all_read, mark_event_read, mark_page_read, mark_read
from dashboard.notifications.models import Notification
from dashboard.notifications.sending import turn_off
from dashboard.notifications.targets import add_target, change_target, delete_target
from tests.notifications.conftest import Fail
from tests.support.feed import added_to_feed, facts
from tests.support.seeding import seed_notification

READS: dict[str, Callable[[Notification], object]] = {
    "chosen": lambda item: mark_read(item.user, [item.pk]),
    "page": lambda item: mark_page_read(item.user, item.event.path),
    "event": lambda item: mark_event_read(item.event.key),
    "all": lambda item: mark_all_read(item.user, until=item.pk),
}


def test_a_new_notification_is_added_for_its_user(fail: Fail, paula: User, ada: User) -> None:
    with added_to_feed() as entries:
        fail()
    assert [(entry.kind, entry.user_id) for entry in entries] == [("notification", paula.pk)]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_notification_that_is_read_is_added_once(
    paula: User, ada: User, read: Callable[[Notification], object]
) -> None:
    notification = seed_notification(paula)
    seed_notification(ada, 2)
    with added_to_feed() as entries:
        read(notification)
        read(notification)
    assert [(entry.kind, entry.user_id) for entry in entries] == [("notification", paula.pk)]


@pytest.mark.parametrize("is_team", [False, True])
def test_each_change_of_a_webhook_is_added(paula: User, is_team: bool) -> None:
    with added_to_feed() as entries:
        url = "https://hooks.example.com/1"
        target = add_target(paula, is_team=is_team, name="Channel", url=url, format="slack")
        pk = target.pk
        change_target(target, name="Quiet", url=url, is_active=True)
        turn_off(target, "The receiver responded 410.")
        delete_target(target)
    assert facts(entries) == [("target", str(pk))] * 4
    assert {entry.user_id for entry in entries} == {None if is_team else paula.pk}


def test_another_address_is_added_for_its_user(paula: User) -> None:
    with added_to_feed() as entries:
        set_address(paula, "paula@example.com")
    assert [(entry.kind, entry.user_id) for entry in entries] == [("target", paula.pk)]
