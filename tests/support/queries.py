"""The queries of an act."""

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext


def queries_of(act: Callable[[], object]) -> list[str]:
    """Return the SQL of each query that an act runs."""
    with CaptureQueriesContext(connection) as queries:
        act()
    return [query["sql"] for query in queries]


def sqlite_plan(sql: str) -> list[str]:
    """Return the steps by which SQLite would run a query."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [step[-1] for step in cursor.fetchall()]
