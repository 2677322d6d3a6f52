"""A Redis database of a test's own, emptied afterwards.

TEST_REDIS_URL names a server whose databases 8 to 15 may be used.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis import Redis
from redis.exceptions import RedisError

SERVER = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379")
CLAIM = "pressroom:claimed-by-a-test"


@contextmanager
def own_cache() -> Iterator[str]:
    """Return the address of an empty database; skip, loudly, where there is no server.

    With REQUIRE_REDIS set, that is a failure.
    """
    try:
        number = _claimed()
    except RedisError as error:
        if os.environ.get("REQUIRE_REDIS"):
            raise
        pytest.skip(f"NO REDIS: set TEST_REDIS_URL. {error}")
    try:
        yield f"{SERVER}/{number}"
    finally:
        with Redis.from_url(SERVER, db=number) as redis:
            redis.flushdb()


def _claimed() -> int:
    """Return the number of a database that held nothing, and now a claim."""
    for number in range(8, 16):
        with Redis.from_url(SERVER, db=number, socket_connect_timeout=5) as redis:
            if not redis.dbsize() and redis.set(CLAIM, uuid.uuid4().hex, nx=True, ex=600):
                return number
    raise RedisError(f"every database from 8 to 15 of {SERVER} is in use")
