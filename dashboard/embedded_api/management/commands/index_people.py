"""`manage.py index_people`: write the texts people are found by, and their index, anew."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.embedded_api.models import Person
from dashboard.embedded_api.search.upkeep import write_anew

_A_LINE_EVERY = 100_000


class Command(BaseCommand):
    """Write all anew. Searches wait until it is done, and find the same as before."""

    help = "Write the index of people anew, such as after an upgrade."

    def handle(self, **options: Any) -> None:
        """Write it, with a line for each hundred thousand people."""
        write_anew(self._say)
        self.stdout.write(f"People indexed: {Person.objects.count():,}.")

    def _say(self, done: int) -> None:
        if done % _A_LINE_EVERY == 0:
            self.stdout.write(f"{done:,} people …")
