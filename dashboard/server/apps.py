"""Running the dashboard, as a Django app."""

from django.apps import AppConfig


class ServerConfig(AppConfig):
    """The server, the worker, and commands."""

    name = "dashboard.server"

    def ready(self) -> None:
        """Limit how long the database is waited for."""
        from dashboard.server.database_limits import limit_waits

        limit_waits()
