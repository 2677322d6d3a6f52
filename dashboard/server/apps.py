"""Running the dashboard, as a Django app."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from dashboard import clock


class ServerConfig(AppConfig):
    name = "dashboard.server"

    def ready(self) -> None:
        from dashboard.server.database_limits import limit_waits

        limit_waits()
        connection_created.connect(clock.measure)
