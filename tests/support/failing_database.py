"""A database that fails in the middle of a request."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import OperationalError, connection

WRITES = ("INSERT", "UPDATE", "DELETE")


@contextmanager
def database_cannot_be_written(tables: str = "") -> Iterator[None]:
    """Fail every write, as on a full disk; only to tables whose names begin with `tables`."""

    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(WRITES) and f'"{tables}' in sql:
            raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail):
        yield


ledger_cannot_be_written = partial(database_cannot_be_written, "ledger_")


class LostDatabase:
    """A database that fails every query while `is_lost`."""

    def __init__(self) -> None:
        self.is_lost = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Execute the query, or fail."""
        if self.is_lost:
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, params, many, context)


@contextmanager
def losable_database() -> Iterator[LostDatabase]:
    """Yield a switch to lose the database in the middle of a request."""
    database = LostDatabase()
    with connection.execute_wrapper(database):
        yield database
