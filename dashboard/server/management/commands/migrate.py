"""`manage.py migrate`: Django's command, with a clear error if the database can't be written."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import Error, OperationalError
from django.db.migrations.exceptions import MigrationSchemaMissing

from dashboard.server.database_limits import unlimited_waits

_REFUSED = {"25006", "42501"}
"""PostgreSQL's codes: the database is read-only, or the role lacks the privilege."""


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with unlimited_waits():
                super().handle(*args, **options)
        except Error as error:
            refused = getattr(error.__cause__, "sqlstate", None) in _REFUSED
            if not (refused or isinstance(error, OperationalError | MigrationSchemaMissing)):
                raise
            message = " ".join(str(error).split())
            raise CommandError(
                f"DATABASE_URL: the database can't be reached or written ({message}). Pending "
                "migrations were not applied: fix this and run migrate again."
            ) from error
