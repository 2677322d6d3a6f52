"""A temporary PostgreSQL database per test.

TEST_POSTGRES_URL names a server where databases may be created.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

SERVER = os.environ.get("TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")


@contextmanager
def own_database(*, is_kept: bool = False) -> Iterator[str]:
    """Yield the URL of a new database, which is dropped at the end unless `is_kept`.

    Without a server, skips the test, or fails it if REQUIRE_POSTGRES is set.
    """
    name = f"pressroom_{uuid.uuid4().hex[:12]}"
    try:
        _run(f'CREATE DATABASE "{name}"')
    except psycopg.Error as error:
        if os.environ.get("REQUIRE_POSTGRES"):
            raise
        pytest.skip(f"NO POSTGRESQL: set TEST_POSTGRES_URL. {error}")
    try:
        yield f"{SERVER.rpartition('/')[0]}/{name}"
    finally:
        if not is_kept:
            drop_database(name)


def copy_database(name: str, url: str) -> None:
    """Replace the empty database at the URL by a copy of `name`, which must have no connections."""
    copy = url.rpartition("/")[2]
    _run(f'DROP DATABASE "{copy}"')
    _run(f'CREATE DATABASE "{copy}" TEMPLATE "{name}"')


def drop_database(name: str) -> None:
    _run(f'DROP DATABASE "{name}" WITH (FORCE)')


def _run(statement: str) -> None:
    with psycopg.connect(SERVER, autocommit=True, connect_timeout=60) as server:
        server.execute(statement)  # type: ignore[call-overload]  # the name is our own
