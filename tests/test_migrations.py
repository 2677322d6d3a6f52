"""The previous version works on a migrated database, for updates without downtime."""

import subprocess
import sys
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField, AlterField, RemoveField
from django.db.models import NOT_PROVIDED

from config.environment import BASE_DIR
from tests.support.failing_database import losable_database
from tests.support.postgres import own_database

OURS = {"web", "ledger", "releases", "embedded_api"}
REMOVALS = {"DeleteModel", "RemoveField", "RenameField", "RenameModel", "AlterModelTable"}


def changes_of_tables() -> Iterator[tuple[str, Migration]]:
    """Yield our migrations after the first of each app, by name."""
    migrations = MigrationLoader(None).disk_migrations
    # In the same order in every worker.
    for (app, name), migration in sorted(migrations.items(), key=itemgetter(0)):
        if app in OURS and not migration.initial:
            yield f"{app}.{name}", migration


def breaking_operations(migration: Migration) -> list[str]:
    """Return the operations of a migration that would break the previous version.

    A migration that removes something that released versions don't use declares this with
    `unused_since = "<version>"`.
    """
    if getattr(migration, "unused_since", None):
        return []
    names = [type(operation).__name__ for operation in migration.operations]
    removals = [name for name in names if name in REMOVALS]
    added = [operation for operation in migration.operations if isinstance(operation, AddField)]
    return removals + [f"{item.name} is required" for item in added if is_required(item.field)]


def is_required(field: Any) -> bool:
    """Return whether an insert without the column fails."""
    return not field.null and not field.many_to_many and field.db_default is NOT_PROVIDED


@pytest.mark.parametrize(("name", "migration"), changes_of_tables(), ids=str)
def test_the_version_before_can_run_on_it(name: str, migration: Migration) -> None:
    assert breaking_operations(migration) == []


def migration_of(*operations: Any, **attributes: str) -> Migration:
    created = Migration("0002_made", "ledger")
    created.operations = list(operations)
    for name, value in attributes.items():
        setattr(created, name, value)
    return created


def test_breaking_migration_operations_are_named() -> None:
    required = AddField("operation", "reason", models.TextField(default=""))
    assert breaking_operations(migration_of(required)) == ["reason is required"]
    assert breaking_operations(migration_of(RemoveField("operation", "before"))) == ["RemoveField"]
    message = migration_of(RemoveField("operation", "before"), unused_since="1.4")
    optional = AddField("operation", "reason", models.TextField(db_default=""))
    wider = AlterField("operation", "actor_name", models.TextField())
    assert breaking_operations(message) + breaking_operations(migration_of(optional, wider)) == []


@pytest.mark.django_db
def test_an_unreachable_database_ends_in_one_sentence() -> None:
    with losable_database() as database:
        database.is_lost = True
        with pytest.raises(CommandError) as failed:
            call_command("migrate", skip_checks=True)
    assert str(failed.value).startswith(
        "DATABASE_URL: the database can't be reached or written (server closed the connection"
    )


def test_a_read_only_postgresql_ends_in_a_sentence() -> None:
    with own_database() as url:
        environment = {
            "SECRET_KEY": "only-for-tests-" + "x" * 50,
            "ALLOWED_HOSTS": "127.0.0.1",
            "DATABASE_URL": f"{url}?options=-c%20default_transaction_read_only%3Don",
        }
        command = [sys.executable, "manage.py", "migrate", "--skip-checks"]
        done = subprocess.run(
            command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "cannot execute CREATE TABLE in a read-only transaction" in done.stderr
