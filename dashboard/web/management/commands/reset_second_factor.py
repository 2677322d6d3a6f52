"""`manage.py reset_second_factor`: for who lost a telephone, and nobody else can help."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.web.second_factor import reset_second_factor


class Command(BaseCommand):
    """Take all factors of one person away; it is on record as done here."""

    help = "Remove a person's app, passkeys and recovery codes, so that the password signs in."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name."""
        parser.add_argument("name", metavar="NAME", help="the name they sign in with")

    def handle(self, *, name: str, **options: Any) -> None:
        """Do it. Raises CommandError where there is no such person."""
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"Nobody signs in as {name}.")
        done = reset_second_factor(person, by="manage.py")
        had = "has no second factor any more" if done else "had no second factor"
        self.stdout.write(f"{name} {had}.")
