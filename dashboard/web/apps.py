"""The dashboard's pages as a Django app."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Views, forms, tags and the groups of people."""

    name = "dashboard.web"
    label = "web"

    def ready(self) -> None:
        """Record when each session begins, and register the checks."""
        from django.contrib.auth.signals import user_logged_in

        from dashboard.accounts.sessions import begin
        from dashboard.server import checks  # noqa: F401  # registers them

        user_logged_in.connect(begin, dispatch_uid="session-begins")
