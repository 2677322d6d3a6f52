"""`manage.py reset_second_factor`: reset the factors of a user who lost their phone."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.accounts.second_factor.policy import reset_second_factor


class Command(BaseCommand):
    help = "Remove a user's app, passkeys and recovery codes, so that the password alone signs in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="username")

    def handle(self, *, name: str, **options: Any) -> None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"No user is named {name}.")
        done = reset_second_factor(user, by="manage.py")
        self.stdout.write(
            f"Second factor of {name} reset." if done else f"{name} had no second factor."
        )
