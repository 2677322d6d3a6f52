"""Connections and host look-ups that keep to a deadline.

httpx and httpcore limit each read and each write, so a server that sends one byte a second stays
within every limit. Here each of them is limited to the time left until the thread's deadline.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any

import httpcore
import httpx

_CHUNK = 16 * 1024

_deadline: ContextVar[float] = ContextVar("deadline")
"""Deadline of the current thread, on the clock of `time.monotonic()`."""


@contextmanager
def within_deadline(deadline: float) -> Iterator[None]:
    """End this thread's reads and writes at `deadline`, on the clock of `time.monotonic()`."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def look_up(host: str, port: int, *, timeout_s: float) -> list[str]:
    """Return the addresses of a host, at least one. Raises OSError, also after `timeout_s`.

    Runs in a thread, because the system's look-up can't be interrupted.
    """
    results = SimpleQueue[list[Any] | Exception]()

    def get() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.put(error)

    threading.Thread(target=get, name="resolver", daemon=True).start()
    try:
        result = results.get(timeout=max(0.0, timeout_s))
    except Empty:
        raise TimeoutError(None, f"the address of {host} wasn’t found in time") from None
    if isinstance(result, Exception):
        raise OSError(None, f"unknown host {host}") from result
    return list(dict.fromkeys(str(address[0]) for *_, address in result))


@cache
def ssl_context() -> ssl.SSLContext:
    """Return a context with the trusted certificates. Cached: reading them takes 20 ms."""
    return httpx.create_ssl_context()


class DeadlineBackend(httpcore.NetworkBackend):
    """Network backend whose connections keep to the thread's deadline.

    With `addresses`, it connects to one of these and doesn't look up the host. After `max_bytes`, a
    connection is read no further.
    """

    def __init__(self, addresses: Sequence[str] = (), *, max_bytes: int | None = None) -> None:
        self._addresses, self._max_bytes = addresses, max_bytes
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Try the host's addresses in turn. Each gets an equal share of the time left."""
        until = time.monotonic() + _limited(timeout, httpcore.ConnectTimeout)
        try:
            addresses = self._addresses or look_up(host, port, timeout_s=until - time.monotonic())
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for left in range(len(addresses), 0, -1):
            share = max(0.001, (until - time.monotonic()) / left)
            try:
                stream = self._network.connect_tcp(
                    addresses[-left], port, share, local_address, socket_options
                )
                return _DeadlineStream(stream, self._max_bytes)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore.ConnectError("no address")


class _DeadlineStream(httpcore.NetworkStream):
    """A connection whose reads and writes end by the thread's deadline."""

    def __init__(self, stream: httpcore.NetworkStream, max_bytes: int | None) -> None:
        self._stream, self._left = stream, max_bytes
        self._is_fresh = True
        """Whether no part of a request has been sent over it."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        limit = _limited(timeout, httpcore.ReadTimeout)
        if self._left is None:
            return self._stream.read(max_bytes, limit)
        if self._left <= 0:
            raise httpcore.RemoteProtocolError("too long")
        data = self._stream.read(min(max_bytes, self._left), limit)
        self._left -= len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for chunk in chunks(buffer):
            late = httpcore.ConnectTimeout if self._is_fresh else httpcore.WriteTimeout
            limit, self._is_fresh = _limited(timeout, late), False
            self._stream.write(chunk, limit)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        limit = _limited(timeout, httpcore.ConnectTimeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, limit)
        return _DeadlineStream(stream, self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _limited(timeout: float | None, error: type[httpcore.TimeoutException]) -> float:
    """Return the timeout, cut to the time left until the deadline. Raises `error` after it."""
    remaining = _deadline.get() - time.monotonic()
    if remaining <= 0:
        raise error
    return remaining if timeout is None else min(timeout, remaining)


def chunks(data: bytes) -> Iterator[bytes]:
    """Return the data in chunks of 16 KiB, so that the deadline is checked between them."""
    return (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK))
