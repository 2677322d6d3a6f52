"""One user's notifications: the bell and the history."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.compiled_query import compiled
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.notifications.models import Notification

MAX_COUNT = 100
"""Maximum count of the bell, which then shows "99+"."""


def unread_count(user: User) -> int:
    """Return the number of unread notifications, at most MAX_COUNT. One indexed query."""
    return len(unread_paths(user))


def unread_paths(user: User) -> list[tuple[int, str]]:
    """Return the primary keys of unread notifications and the paths of what they are about.

    At most MAX_COUNT. One indexed query.
    """
    return _unread_paths.rows(user.pk)


@compiled(tuple)
def _unread_paths(user_id: int) -> "QuerySet[Notification, Any]":
    unread = Notification.objects.filter(user_id=user_id, read_at=None).order_by()
    return unread.values_list("pk", "event__path")[:MAX_COUNT]


def is_about(event_path: str, path: str) -> bool:
    """Return whether an event is about the page at this decoded path, ignoring its query."""
    return unquote(urlsplit(event_path).path) == path


def list_notifications(user: User) -> QuerySet[Notification]:
    return Notification.objects.filter(user=user).select_related("event")


def mark_read(user: User, notification_ids: Sequence[int]) -> int:
    unread = Notification.objects.filter(user=user, pk__in=notification_ids, read_at=None)
    return _mark_read(unread, user.pk)


def mark_page_read(user: User, path: str) -> int:
    """Mark notifications about the page at a decoded path as read; return how many were unread."""
    return mark_read(user, [pk for pk, about in unread_paths(user) if is_about(about, path)])


def mark_event_read(key: str) -> None:
    unread = Notification.objects.filter(event__key=key, read_at=None)
    _mark_read(unread, *unread.values_list("user_id", flat=True))


def mark_all_read(user: User, *, until: int) -> int:
    """Mark all as read up to the newest one that was shown. `until` is its primary key."""
    unread = Notification.objects.filter(user=user, pk__lte=until, read_at=None)
    return _mark_read(unread, user.pk)


def add_to_feed(user_ids: Iterable[int]) -> None:
    """Add feed entries for users whose notifications changed. Users see only their own entry."""
    ids = sorted(set(user_ids))
    feed.add(*(FeedEntry(kind=FeedKind.NOTIFICATION, user_id=user_id) for user_id in ids))


def _mark_read(unread: QuerySet[Notification], *user_ids: int) -> int:
    with transaction.atomic():
        count = unread.update(read_at=clock.now())
        if count:
            add_to_feed(user_ids)
    return count
