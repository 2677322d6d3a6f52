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
def own_database() -> Iterator[str]:
    """Return the URL of a new database; skip the test if there is no server.

    With REQUIRE_POSTGRES set, that is a failure.
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
        _run(f'DROP DATABASE "{name}" WITH (FORCE)')


def _run(statement: str) -> None:
    with psycopg.connect(SERVER, autocommit=True, connect_timeout=60) as server:
        server.execute(statement)  # type: ignore[call-overload]  # the name is our own
