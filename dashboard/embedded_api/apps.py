from django.apps import AppConfig
from django.db.models.signals import post_save


class EmbeddedApiConfig(AppConfig):
    """The nine operations on the ORM. The tables exist even if another service is in use."""

    name = "dashboard.embedded_api"
    verbose_name = "Built-in API"

    def ready(self) -> None:
        """Connect signals, so that rows count however they are created."""
        from dashboard.embedded_api.events import record_created
        from dashboard.embedded_api.signing import create_secret

        post_save.connect(record_created, sender="embedded_api.Version")
        post_save.connect(create_secret, sender="embedded_api.Subscription")
