"""Limit how long a statement waits for PostgreSQL, even if the database hangs.

The settings of libpq detect only a machine that is gone. These limits also end the wait if the
database hangs, or has gone behind a proxy that keeps the connection open.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from django.db.backends.signals import connection_created
from psycopg.pq import TransactionStatus


def limit_waits() -> None:
    """Limit the statements of all connections that this process and its forks open."""
    connection_created.connect(_limit)


@contextmanager
def unlimited_waits() -> Iterator[None]:
    """Remove the limits within the block: building an index may take long."""
    connection_created.disconnect(_limit)
    _reconnect()
    try:
        yield
    finally:
        limit_waits()
        _reconnect()


def _reconnect() -> None:
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


def _limit(connection: Any, **_: object) -> None:
    if connection.vendor != "postgresql":
        return
    limit_s = settings.DATABASE_TIMEOUT_S
    # Set with a statement: PgBouncer accepts no options when connecting.
    limits = "SET statement_timeout = %s; SET idle_in_transaction_session_timeout = %s"
    with connection.cursor() as cursor:
        cursor.execute(limits, [limit_s * 1000, limit_s * 3000])
    inner = connection.connection
    inner.wait = partial(_wait, inner, inner.wait, limit_s * 1.5)


def _wait(inner: "psycopg.Connection[Any]", wait: Any, limit_s: float, *args: Any) -> Any:
    try:
        return wait(*args, timeout=limit_s)
    except psycopg.OperationalError:
        if inner.pgconn.transaction_status == TransactionStatus.ACTIVE:
            inner.close()
        raise
