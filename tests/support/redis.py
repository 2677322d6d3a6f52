"""A Redis database per test, which is emptied afterwards.

TEST_REDIS_URL names a server whose databases 8 to 15 may be used.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.exceptions import RedisError

SERVER = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379")
CLAIM = "pressroom:claimed-by-a-test"


@contextmanager
def own_cache() -> Iterator[str]:
    """Yield the URL of an empty database.

    Without a server, skips the test, or fails it if REQUIRE_REDIS is set.
    """
    try:
        number = _claim()
    except RedisError as error:
        if os.environ.get("REQUIRE_REDIS"):
            raise
        pytest.skip(f"NO REDIS: set TEST_REDIS_URL. {error}")
    try:
        yield f"{SERVER}/{number}"
    finally:
        with Redis.from_url(SERVER, db=number) as redis:
            redis.flushdb()


def _claim() -> int:
    """Claim an empty database; return its number."""
    for number in range(8, 16):
        with Redis.from_url(SERVER, db=number, socket_connect_timeout=60) as redis:
            if not redis.dbsize() and redis.set(CLAIM, uuid.uuid4().hex, nx=True, ex=600):
                return number
    raise RedisError(f"every database from 8 to 15 of {SERVER} is in use")


def cache_at(url: str, **options: Any) -> dict[str, Any]:
    """Return the CACHES setting for a dashboard with this Redis."""
    backend = "dashboard.server.redis_cache.FaultTolerantRedisCache"
    return {"default": {"BACKEND": backend, "LOCATION": url, "OPTIONS": options}}


class Gate(ThreadingTCPServer):
    """A proxy for Redis that drops everything while `is_silent`."""

    daemon_threads = True
    is_silent = False
    dropped_chunks = 0

    def __init__(self, cache_url: str) -> None:
        self._before = urlsplit(cache_url)
        super().__init__(("127.0.0.1", 0), _PassOn)

    @property
    def url(self) -> str:
        """The URL of the proxy."""
        return f"redis://127.0.0.1:{self.server_address[1]}{self._before.path}"

    def connection(self) -> socket.socket:
        """Return a new connection to Redis itself."""
        return socket.create_connection((self._before.hostname, self._before.port or 6379))

    def pump(self, source: socket.socket, target: socket.socket) -> None:
        """Forward data until the source closes, then close the target for writing."""
        with suppress(OSError):
            while chunk := source.recv(65_536):
                if self.is_silent:
                    self.dropped_chunks += 1
                else:
                    target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class _PassOn(BaseRequestHandler):
    server: Gate

    def handle(self) -> None:
        with self.server.connection() as redis:
            back = Thread(target=self.server.pump, args=(redis, self.request), daemon=True)
            back.start()
            self.server.pump(self.request, redis)
            back.join()


@contextmanager
def own_gate() -> Iterator[Gate]:
    """Run a proxy for an empty database until the block ends."""
    with own_cache() as cache_url, Gate(cache_url) as gate:
        Thread(target=gate.serve_forever, daemon=True).start()
        yield gate
        gate.shutdown()
