"""`manage.py after_restore`: prepare a restored database for use."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ledger.operations import renew_operation_keys


class Command(BaseCommand):
    """Make the keys of future operations differ from all earlier ones.

    A publish's key counts the recorded publishes. A restored database lacks the latest ones, so
    their keys would repeat, and the service would take a new publish for one already done.
    """

    help = "After a restore: let the keys of operations that the backup does not know not repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        """Renew the keys. Running it again does no harm."""
        renew_operation_keys()
        self.stdout.write("The keys of operations to come differ from all before.")
