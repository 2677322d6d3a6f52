"""`manage.py issue_api_key`: issue or revoke a key of the embedded API."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey


class Command(BaseCommand):
    help = "Issue a key of the embedded API, which is shown once, or revoke one."

    def add_arguments(self, parser: CommandParser) -> None:
        action = parser.add_mutually_exclusive_group(required=True)
        action.add_argument("--name", help="who or what will use the new key")
        action.add_argument(
            "--revoke", metavar="PREFIX", help="the first 12 characters of a key, or all of it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["revoke"] is not None:
            self._revoke(options["revoke"])
        elif name := options["name"].strip():
            self.stderr.write("Copy the key now. It won't be shown again:")
            self.stdout.write(keys.issue(ApiKey(name=name, tenant=keys.default_tenant())))
        else:
            raise CommandError("--name is empty: enter who or what will use the key.")

    def _revoke(self, text: str) -> None:
        if not text:
            raise CommandError("--revoke is empty: enter the first 12 characters of a key.")
        prefix, rest = text[: keys.PREFIX_LENGTH], text[keys.PREFIX_LENGTH :]
        if not keys.revoke(keys.find_keys(text)):
            # Don't print the rest: it may be a mistyped key.
            message = (
                f"{prefix}… is not an active key" if rest else f"No active key starts with {prefix}"
            )
            raise CommandError(f"{message}.")
        self.stdout.write(f"Revoked {prefix}.")
