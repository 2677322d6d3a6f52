"""Asking the database in its own language, where the ORM would take longer than the answer."""

from typing import Any

from django.db import connection


def rows(sql: str, *values: Any) -> list[Any]:
    """Run a statement; return the rows of its answer."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
