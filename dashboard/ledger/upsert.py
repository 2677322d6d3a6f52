"""Insert rows, or update those that an older read has recorded.

The database decides which is newer, in the statement that writes: two reads may be recorded at the
same moment, in any order. Django's own upsert takes no condition.
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection, models

CHANGED_AT = "changed_at"
"""Updated only if the digest of the row differs."""


def upsert_newer(
    rows: Sequence[models.Model],
    *,
    unique: Sequence[str],
    preserved: Collection[str] = (),
    moment: str = "last_seen_at",
) -> set[tuple[Any, ...]]:
    """Insert rows or update them, and return the unique columns of those that were written.

    A row whose `moment` is later than that of the new one stays as it is. `preserved` are the
    columns that an update leaves alone. All rows are of one model, at least one; they are locked in
    their order.
    """
    model = type(rows[0])
    fields = [field for field in model._meta.concrete_fields if field is not model._meta.auto_field]
    size = max((connection.features.max_query_params or 30_000) // len(fields), 1)
    sql = _sql(model, fields, unique, preserved, moment)
    row_sql = f"({', '.join(['%s'] * len(fields))})"
    written = set()
    with connection.cursor() as cursor:
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            values = [_db_value(row, field) for row in batch for field in fields]
            cursor.execute(sql.format(values=", ".join([row_sql] * len(batch))), values)
            written.update(cursor.fetchall())
    return written


def _db_value(row: models.Model, field: "models.Field[Any, Any]") -> Any:
    return field.get_db_prep_save(getattr(row, field.attname), connection)


def _sql(
    model: type[models.Model],
    fields: Sequence["models.Field[Any, Any]"],
    unique: Sequence[str],
    preserved: Collection[str],
    moment: str,
) -> str:
    """Return the statement, with `{values}` in place of the rows."""
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    columns = {field.name: quote(str(field.column)) for field in fields}
    updates = [
        f"{column} = CASE WHEN {table}.digest = EXCLUDED.digest"
        f" THEN {table}.{column} ELSE EXCLUDED.{column} END"
        if name == CHANGED_AT
        else f"{column} = EXCLUDED.{column}"
        for name, column in columns.items()
        if name not in {*unique, *preserved}
    ]
    key = ", ".join(columns[name] for name in unique)
    return (
        f"INSERT INTO {table} ({', '.join(columns.values())}) VALUES {{values}}"  # noqa: S608
        f" ON CONFLICT ({key}) DO UPDATE SET {', '.join(updates)}"
        f" WHERE {table}.{columns[moment]} <= EXCLUDED.{columns[moment]}"
        f" RETURNING {key}"
    )
