"""The tables of notifications."""

from dashboard.notifications.models.events import Event, Notification, WatchState
from dashboard.notifications.models.follows import Follow, Followed
from dashboard.notifications.models.outbox import (
    Delivery,
    DeliveryAttempt,
    DeliveryItem,
    DeliveryState,
)
from dashboard.notifications.models.preferences import (
    Channel,
    NotificationSettings,
    Preference,
    WebhookFormat,
    WebhookTarget,
)

__all__ = [
    "Channel",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryItem",
    "DeliveryState",
    "Event",
    "Follow",
    "Followed",
    "Notification",
    "NotificationSettings",
    "Preference",
    "WatchState",
    "WebhookFormat",
    "WebhookTarget",
]
