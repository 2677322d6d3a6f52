"""The dashboard's pages as a Django app."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Views, forms, tags and the groups of people."""

    name = "dashboard.web"
    label = "web"

    def ready(self) -> None:
        """Note the beginning of each log-in."""
        from django.contrib.auth.signals import user_logged_in

        from dashboard.web.sessions import begin

        user_logged_in.connect(begin, dispatch_uid="session-begins")
