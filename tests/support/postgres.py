"""A temporary PostgreSQL database per test.

TEST_POSTGRES_URL names a server on which databases may be created.
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
    """Return the URL of a new database, dropped at the end unless it is to be kept.

    Skip the test if there is no server; with REQUIRE_POSTGRES set, that is a failure.
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
    """Replace the empty database at a URL by a copy of one that nobody is connected to."""
    copy = url.rpartition("/")[2]
    _run(f'DROP DATABASE "{copy}"')
    _run(f'CREATE DATABASE "{copy}" TEMPLATE "{name}"')


def drop_database(name: str) -> None:
    """Drop a database."""
    _run(f'DROP DATABASE "{name}" WITH (FORCE)')


def _run(statement: str) -> None:
    with psycopg.connect(SERVER, autocommit=True, connect_timeout=60) as server:
        server.execute(statement)  # type: ignore[call-overload]  # the name is our own
