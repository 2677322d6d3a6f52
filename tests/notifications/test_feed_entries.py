"""A change of a user's notifications is in the feed for that user alone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from dashboard.notifications.inbox import mark_all_read, mark_event_read, mark_page_read, mark_read
from dashboard.notifications.models import Notification
from tests.notifications.conftest import Fail
from tests.support.feed import added_to_feed
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
