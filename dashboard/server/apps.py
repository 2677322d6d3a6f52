"""The app that runs the dashboard, and our configuration of Django's static files app."""

from django.apps import AppConfig
from django.contrib.staticfiles import apps
from django.db.backends.signals import connection_created

from dashboard import clock


class ServerConfig(AppConfig):
    name = "dashboard.server"
    default = True

    def ready(self) -> None:
        from dashboard.server.database_limits import limit_waits

        limit_waits()
        connection_created.connect(clock.measure)


class StaticFilesConfig(apps.StaticFilesConfig):
    """Ignore other versions of htmx, and unminified files whose minified form pages use.

    Compressing them would delay the first start by seconds.
    """

    ignore_patterns = [
        *apps.StaticFilesConfig.ignore_patterns,
        *("htmx-4*", "htmax*", "hx-*-4*"),
        *("htmx-2.js", "jquery.js", "select2.full.js", "xregexp.js"),
    ]
