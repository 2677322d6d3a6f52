"""A Redis database of a test's own, emptied afterwards.

TEST_REDIS_URL names a server whose databases 8 to 15 may be used.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

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


class Gate(ThreadingTCPServer):
    """Stands before a Redis, and lets nothing through while that is to be silent."""

    daemon_threads = True
    is_silent = False
    unheard = 0
    """How much was said to it while it was silent."""

    def __init__(self, cache_url: str) -> None:
        self._before = urlsplit(cache_url)
        super().__init__(("127.0.0.1", 0), _PassOn)

    @property
    def url(self) -> str:
        """The Redis' address, through here."""
        return f"redis://127.0.0.1:{self.server_address[1]}{self._before.path}"

    def connection(self) -> socket.socket:
        """Return a new connection to the Redis itself."""
        return socket.create_connection((self._before.hostname, self._before.port or 6379))

    def pump(self, source: socket.socket, target: socket.socket) -> None:
        """Pass on what comes until no more does, and say so."""
        with suppress(OSError):
            while piece := source.recv(65_536):
                if self.is_silent:
                    self.unheard += 1
                else:
                    target.sendall(piece)
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
    """Stand before an empty database until the block ends."""
    with own_cache() as cache_url, Gate(cache_url) as gate:
        Thread(target=gate.serve_forever, daemon=True).start()
        yield gate
        gate.shutdown()
