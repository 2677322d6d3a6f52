"""Notifications as a Django app."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Tables of events, of notifications, and of the messages to be delivered."""

    name = "dashboard.notifications"
    label = "notifications"

    def ready(self) -> None:
        """Record what the rooms below report, in the transaction in which it happens."""
        from dashboard.notifications.receivers import connect

        connect()
