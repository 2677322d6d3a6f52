"""`manage.py reset_second_factor`: reset the factors of a user who lost their phone."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.accounts.second_factor.policy import reset_second_factor


class Command(BaseCommand):
    """Delete all factors of one user, and record it."""

    help = "Remove a person's app, passkeys and recovery codes, so that the password signs in."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name."""
        parser.add_argument("name", metavar="NAME", help="the name they sign in with")

    def handle(self, *, name: str, **options: Any) -> None:
        """Reset the factors. Raises CommandError if there is no such user."""
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"Nobody signs in as {name}.")
        done = reset_second_factor(person, by="manage.py")
        had = "has no second factor any more" if done else "had no second factor"
        self.stdout.write(f"{name} {had}.")
