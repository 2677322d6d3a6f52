"""Write many people at once, with their indexes."""

from collections.abc import Sequence
from itertools import chain

from django.db import connection

from dashboard.embedded_api.models import Person

_ROWS_PER_INSERT = 1_000
"""SQLite limits the values of a statement, and FTS5 updates its index after each statement."""
_UPDATED = (
    *("name", "email", "domain", "slug", "phone_number", "linkedin_profile_url"),
    *("search_text", "updated_at"),
)


def gather_trigrams() -> None:
    """Let PostgreSQL gather the trigrams of many people before it writes them.

    A million people take two thirds of the time. This lasts until the end of the transaction.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '256MB'")
            cursor.execute("SET LOCAL gin_pending_list_limit = '256MB'")


def write_trigrams() -> None:
    """Write what PostgreSQL gathered, and make statistics, which the first searches would lack."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # Without the extension there is no index, and to_regclass is null.
            index = "to_regclass('embedded_api_person_trigrams')"
            cursor.execute(f"SELECT gin_clean_pending_list({index})")
            cursor.execute("ANALYZE embedded_api_person")


def bulk_insert(rows: Sequence[Person]) -> None:
    """Insert new people, twice as fast as `bulk_create` for a million of them."""
    fields = [field for field in Person._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    target = f'"{Person._meta.db_table}" ({columns})'
    values = [[field.pre_save(row, add=True) for field in fields] for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {target} FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in values:
                    copy.write_row(row)
            return
        placeholders = f"({', '.join(['%s'] * len(fields))})"
        for start in range(0, len(values), _ROWS_PER_INSERT):
            batch = values[start : start + _ROWS_PER_INSERT]
            lists = ", ".join([placeholders] * len(batch))
            cursor.execute(f"INSERT INTO {target} VALUES {lists}", [*chain(*batch)])  # noqa: S608


def bulk_update(rows: Sequence[Person]) -> None:
    """Write the fields of saved people, their search text included.

    Unlike Django's, which writes one statement with a condition per row and field, this takes the
    same time per row for any number of them.
    """
    fields = [field for field in Person._meta.concrete_fields if field.name in _UPDATED]
    columns = ", ".join(f'"{field.column}" = %s' for field in fields)
    statement = f'UPDATE "{Person._meta.db_table}" SET {columns} WHERE "number" = %s'  # noqa: S608
    values = [[*(field.pre_save(row, add=False) for field in fields), row.number] for row in rows]
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)
