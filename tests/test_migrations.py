"""While a new version starts, the old one still runs on the same database, and must be able to."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import pytest
from django.db import models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField, AlterField, RemoveField
from django.db.models import NOT_PROVIDED

OURS = {"web", "ledger", "embedded_api"}
BEFORE_ANY_RELEASE = {"embedded_api.0002_people_texts"}
TAKES_AWAY = {"DeleteModel", "RemoveField", "RenameField", "RenameModel", "AlterModelTable"}


def changes_of_tables() -> Iterator[tuple[str, Migration]]:
    """Yield our migrations after the first of each app, by name."""
    migrations = MigrationLoader(None).disk_migrations
    # In the same order in every worker.
    for (app, name), migration in sorted(migrations.items(), key=itemgetter(0)):
        if app in OURS and not migration.initial and f"{app}.{name}" not in BEFORE_ANY_RELEASE:
            yield f"{app}.{name}", migration


def in_the_way(migration: Migration) -> list[str]:
    """Return what of a migration the version before it could not live with.

    A migration that takes away what no released version uses any more says so by
    `unused_since = "<version>"`.
    """
    if getattr(migration, "unused_since", None):
        return []
    found = [type(each).__name__ for each in migration.operations]
    taken = [name for name in found if name in TAKES_AWAY]
    added = [each for each in migration.operations if isinstance(each, AddField)]
    return taken + [f"{each.name} is required" for each in added if is_required(each.field)]


def is_required(field: Any) -> bool:
    """Whether an insert that does not name the column fails."""
    return not field.null and not field.many_to_many and field.db_default is NOT_PROVIDED


@pytest.mark.parametrize(("name", "migration"), changes_of_tables(), ids=str)
def test_the_version_before_can_run_on_it(name: str, migration: Migration) -> None:
    assert in_the_way(migration) == []


def migration_of(*operations: Any, **said: str) -> Migration:
    made = Migration("0002_made", "ledger")
    made.operations = list(operations)
    for name, value in said.items():
        setattr(made, name, value)
    return made


def test_what_stands_in_the_way_is_found() -> None:
    required = AddField("operation", "reason", models.TextField(default=""))
    assert in_the_way(migration_of(required)) == ["reason is required"]
    assert in_the_way(migration_of(RemoveField("operation", "before"))) == ["RemoveField"]
    said = migration_of(RemoveField("operation", "before"), unused_since="1.4")
    optional = AddField("operation", "reason", models.TextField(db_default=""))
    wider = AlterField("operation", "actor_name", models.TextField())
    assert in_the_way(said) + in_the_way(migration_of(optional, wider)) == []
