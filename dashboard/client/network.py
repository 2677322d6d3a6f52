"""Connections that keep to the time limit of a call as a whole.

httpx limits each read and each write; a service that sends one byte a second passes them all. Here
each is cut to what remains of the call's time.
"""

import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore

_PIECE = 16 * 1024

_until: ContextVar[float] = ContextVar("until")
"""The moment of `time.monotonic()` at which the call of this thread is over."""


@contextmanager
def time_limit(until: float) -> Iterator[None]:
    """Let no connection be read from or written to after `until`, on `time.monotonic()`'s clock."""
    token = _until.set(until)
    try:
        yield
    finally:
        _until.reset(token)


class LimitedBackend(httpcore.NetworkBackend):
    """Makes connections within the time limit, and each of them keeps to it."""

    def __init__(self) -> None:
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Try the host's addresses in turn; one that is silent leaves the others their share."""
        until = time.monotonic() + _cut(timeout, httpcore.ConnectTimeout)
        addresses = _addresses(host, port)
        for left in range(len(addresses), 0, -1):
            share = max(0.001, (until - time.monotonic()) / left)
            try:
                stream = self._network.connect_tcp(
                    addresses[-left], port, share, local_address, socket_options
                )
                return _LimitedStream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore.ConnectError("no address")


class _LimitedStream(httpcore.NetworkStream):
    """A connection; each step of it ends when the call of this thread does."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _cut(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for piece in pieces(buffer):
            self._stream.write(piece, _cut(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        limit = _cut(timeout, httpcore.ConnectTimeout)
        return _LimitedStream(self._stream.start_tls(ssl_context, server_hostname, limit))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _cut(timeout: float | None, passed: type[httpcore.TimeoutException]) -> float:
    remaining = _until.get() - time.monotonic()
    if remaining <= 0:
        raise passed
    return remaining if timeout is None else min(timeout, remaining)


def pieces(data: bytes) -> Iterator[bytes]:
    """Return the data in pieces of 16 KiB, so that a limit is looked at between them."""
    return (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))


def _addresses(host: str, port: int) -> list[str]:
    # The system's own resolver limits bound this look-up; Python has no way to cut it short.
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        raise httpcore.ConnectError(str(failure)) from failure
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
