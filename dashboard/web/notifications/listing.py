"""Notifications as they are shown: a sentence with a shape and a color."""

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from dashboard.ledger.states import OperationState
from dashboard.notifications.inbox import list_notifications
from dashboard.notifications.messages import names_in, words_of
from dashboard.notifications.models import Notification
from dashboard.web.ui.markup import day
from dashboard.web.ui.urls import cached_reverse

MAX_IN_PANEL = 10
LOOKS: dict[str, tuple[str, str]] = {
    "publish_finished": OperationState.NOT_LIVE_YET.badge[1:],
    "publish_failed": OperationState.FAILED.badge[1:],
    "publish_unknown": OperationState.UNKNOWN.badge[1:],
    "publish_stuck": ("clock", "warn"),
    "published_outside": ("external", "warn"),
    "release_finished": ("st-published", "ok"),
    "release_failed": ("st-failed", "bad"),
    "release_held": ("st-held", "warn"),
    "schedule_missed": ("calendar", "warn"),
    "approval_requested": ("st-approval", "info"),
    "approval_given": ("check", "ok"),
    "approval_declined": ("x", "bad"),
    "approval_void": ("st-held", "warn"),
    "emergency_publish": ("alert", "warn"),
    "followed_changed": ("st-changed", "info"),
    "service_unreachable": ("offline", "bad"),
    "service_back": ("st-live", "ok"),
    "receiver_silent": ("webhook", "warn"),
    "new_deviation": ("code", "info"),
}
"""Icon and tone by kind of event."""
OTHER_LOOK = ("bell", "plain")
"""Of a kind of an older or newer version."""


@dataclass(frozen=True)
class NotificationEntry:
    notification: Notification
    text: str
    names: list[str]
    icon: str
    tone: str

    @property
    def url(self) -> str:
        path = self.notification.event.path
        is_ours = url_has_allowed_host_and_scheme(path, allowed_hosts=None)
        return path if is_ours else cached_reverse("notification-list")

    @property
    def is_unread(self) -> bool:
        return self.notification.read_at is None


def entry_of(notification: Notification) -> NotificationEntry:
    event = notification.event
    look = LOOKS.get(event.kind, OTHER_LOOK)
    return NotificationEntry(notification, words_of(event), names_in(event), *look)


def latest_by_day(user: User) -> list[tuple[str, list[NotificationEntry]]]:
    """Return the latest notifications under the names of their days. One query.

    Days are those of the viewer's time zone.
    """
    entries = map(entry_of, list_notifications(user)[:MAX_IN_PANEL])
    days = groupby(entries, key=lambda entry: timezone.localdate(entry.notification.created_at))
    return [(_day_name(day), list(of_day)) for day, of_day in days]


def _day_name(value: date) -> str:
    today = timezone.localdate()
    if value == today:
        return "Today"
    return "Yesterday" if value == today - timedelta(days=1) else day(value, "named")
