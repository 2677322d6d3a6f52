"""`manage.py after_restore`: prepare a restored database for use."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ledger.operations import renew_operation_keys


class Command(BaseCommand):
    """Make the keys of future operations differ from all earlier ones.

    A publish's key counts the recorded publishes. A restored database lacks the latest ones, so
    their keys would repeat, and the service would take a new publish for one already done.
    """

    help = "After a restore: make sure that operation keys used after the backup are not reused."

    def handle(self, *args: Any, **options: Any) -> None:
        """Renew the keys. Running it again does no harm."""
        renew_operation_keys()
        self.stdout.write("New operation keys will differ from all earlier ones.")
