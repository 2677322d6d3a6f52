"""Writing and removing many rows at once: some five times as fast as the ORM's ways."""

from collections.abc import Sequence
from operator import attrgetter

from django.db import connection
from django.db.models import Model

_MANY = 10_000


def write_many(rows: Sequence[Model]) -> None:
    """Write new rows of one kind. For columns that the database takes as Python has them: texts,
    bytes, whole numbers, None. Triggers see each row.
    """
    if not rows:
        return
    fields = type(rows[0])._meta.concrete_fields
    names = ", ".join(f'"{field.column}"' for field in fields)
    values = map(attrgetter(*(field.attname for field in fields)), rows)
    into = f'"{type(rows[0])._meta.db_table}" ({names})'
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {into} VALUES ({marks})", list(values))  # noqa: S608


def empty(model: type[Model]) -> None:
    """Remove all rows. PostgreSQL would leave a million removed ones lying in the way of readers
    until it has time to clear them away, so many are cut off at once.
    """
    rows = model._base_manager.all()
    if connection.vendor == "postgresql" and rows[_MANY:].exists():
        with connection.cursor() as cursor:
            cursor.execute(f'TRUNCATE "{model._meta.db_table}"')
    else:
        rows.delete()
