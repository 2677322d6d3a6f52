"""`manage.py after_restore`: what a restored database needs before it is used."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ledger.operations import renew_keys


class Command(BaseCommand):
    """Give the operations to come keys that none had before.

    A publish's key counts the publishes on record. A restored record has forgotten the latest, so
    their keys would come again, and the service would take a new publish for one it has done.
    """

    help = "After a restore: let the keys of operations that the backup does not know not repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it. Doing it once too often does no harm."""
        renew_keys()
        self.stdout.write("The keys of operations to come differ from all before.")
