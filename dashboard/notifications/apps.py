from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "dashboard.notifications"
    label = "notifications"

    def ready(self) -> None:
        from dashboard.notifications.receivers import connect

        connect()
