"""The embedded API as a Django application."""

from django.apps import AppConfig


class EmbeddedApiConfig(AppConfig):
    """The nine operations on the ORM. Its tables exist even if another service is in use."""

    name = "dashboard.embedded_api"
    verbose_name = "Embedded API"
