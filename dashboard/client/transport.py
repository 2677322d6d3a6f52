"""An httpx transport whose connections keep to the deadline of a call as a whole.

httpx limits each read and each write; a service that sends one byte a second passes them all. Here
each is limited to what remains of the call's time.
"""

import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from threading import Lock
from typing import Any, TypeAlias
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from dashboard.name_lookup import look_up

KEEPALIVE_S = 4.0
"""Many servers close an idle connection after 5 s."""

_CHUNK = 16 * 1024
_WITHOUT_BODY = (204, 304)
"""Statuses without a body in HTTP. If one is sent anyway, it is not read."""

_deadline: ContextVar[float] = ContextVar("deadline")
"""When the call of this thread times out, on `time.monotonic()`'s clock."""


@contextmanager
def within_deadline(deadline: float) -> Iterator[None]:
    """Forbid reads and writes of connections after `deadline`, on `time.monotonic()`'s clock."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def proxy_for(service: httpx.URL) -> httpx.Proxy | None:
    """Return the proxy that the environment names for this URL, unless NO_PROXY excludes it."""
    proxies = getproxies()
    url = proxies.get(service.scheme) or proxies.get("all")
    if not url or proxy_bypass(f"{service.host}:{service.port}" if service.port else service.host):
        return None
    return httpx.Proxy(url if "://" in url else f"http://{url}")


class PooledTransport(httpx.BaseTransport):
    """Reads share connections; each write has its own.

    The service may close a reused connection at the moment it is used again: a read is retried
    then, but it would be unknown whether a write arrived.
    """

    def __init__(self, *, proxy: httpx.Proxy | None = None) -> None:
        self._idle = _IdleConnections()
        self._connect = partial(_ProxyConnection, proxy) if proxy else _connection

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the body of the response is still to be read."""
        url, is_read = _core_url(request.url), request.method == "GET"
        connection = (self._idle.take(url.origin) if is_read else None) or self._connect(url.origin)
        with _as_httpx_errors():
            response = connection.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        # Unread data would be mistaken for the response to the next call.
        is_reusable = is_read and response.status not in _WITHOUT_BODY
        release = partial(self._idle.put, connection) if is_reusable else connection.close
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, release),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._idle.close()


class _IdleConnections:
    """Connections that are not in use; the last one used is reused first.

    Not httpcore's pool, which scans all its connections under one lock whenever a call begins or
    ends: at a hundred parallel calls that takes longer than rendering the page.
    """

    def __init__(self) -> None:
        self._connections: deque[tuple[float, _Connection]] = deque()
        self._lock = Lock()

    def take(self, origin: httpcore.Origin) -> "_Connection | None":
        """Return a connection that is still open, if there is one."""
        while connection := self._pop():
            if connection.can_handle_request(origin) and not connection.has_expired():
                return connection
            connection.close()
        return None

    def put(self, connection: "_Connection") -> None:
        """Store a connection for the next call, and close those that were idle for too long."""
        if not connection.is_available():
            return
        now = time.monotonic()
        expired = []
        with self._lock:
            self._connections.append((now, connection))
            while now - self._connections[0][0] > KEEPALIVE_S:
                expired.append(self._connections.popleft()[1])
        for each in expired:
            each.close()

    def close(self) -> None:
        """Close them all."""
        while connection := self._pop():
            connection.close()

    def _pop(self) -> "_Connection | None":
        with self._lock:
            return self._connections.pop()[1] if self._connections else None


class _ProxyConnection:
    """One connection to the service through a proxy, made when it is first used.

    httpcore makes those in a pool alone: this is a pool of one.
    """

    def __init__(self, proxy: httpx.Proxy, origin: httpcore.Origin) -> None:
        self._pool = httpcore.ConnectionPool(
            proxy=httpcore.Proxy(_core_url(proxy.url), auth=proxy.raw_auth),
            ssl_context=_ssl_context(),
            max_connections=1,
            keepalive_expiry=KEEPALIVE_S,
            network_backend=_DeadlineBackend(),
        )

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        return self._pool.handle_request(request)

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        return True

    def has_expired(self) -> bool:
        return not self._pool.connections

    def is_available(self) -> bool:
        return bool(self._pool.connections)

    def close(self) -> None:
        self._pool.close()


_Connection: TypeAlias = httpcore.HTTPConnection | _ProxyConnection


def _connection(origin: httpcore.Origin) -> httpcore.HTTPConnection:
    """Return a connection, made when it is first used."""
    return httpcore.HTTPConnection(
        origin,
        ssl_context=_ssl_context(),
        keepalive_expiry=KEEPALIVE_S,
        network_backend=_DeadlineBackend(),
    )


@cache
def _ssl_context() -> ssl.SSLContext:
    """Read the trusted certificates once: it takes 20 ms."""
    return httpx.create_ssl_context()


class _Body(httpx.SyncByteStream):
    """The body of a response, in small chunks; the connection is released when it is closed."""

    def __init__(self, response: httpcore.Response, release: Callable[[], None]) -> None:
        self._response = response
        self._release = release

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            for data in self._response.iter_stream():
                yield from _chunks(data)

    def close(self) -> None:
        self._response.close()
        self._release()


class _DeadlineBackend(httpcore.NetworkBackend):
    """Makes connections before the deadline, each of which keeps to it."""

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
        until = time.monotonic() + _limited(timeout, httpcore.ConnectTimeout)
        try:
            addresses = look_up(host, port, timeout_s=until - time.monotonic())
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for left in range(len(addresses), 0, -1):
            share = max(0.001, (until - time.monotonic()) / left)
            try:
                stream = self._network.connect_tcp(
                    addresses[-left], port, share, local_address, socket_options
                )
                return _DeadlineStream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore.ConnectError("no address")


class _DeadlineStream(httpcore.NetworkStream):
    """A connection; each read and write of it ends by the deadline of this thread's call."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._is_fresh = True
        """Whether nothing of a request was sent by it."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _limited(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for chunk in _chunks(buffer):
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
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, limit))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _limited(timeout: float | None, error: type[httpcore.TimeoutException]) -> float:
    """Return the timeout, at most what remains until the deadline; raises `error` after it."""
    remaining = _deadline.get() - time.monotonic()
    if remaining <= 0:
        raise error
    return remaining if timeout is None else min(timeout, remaining)


def _chunks(data: bytes) -> Iterator[bytes]:
    """Return the data in chunks of 16 KiB, so that the deadline is checked between them."""
    return (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK))


def _core_url(url: httpx.URL) -> httpcore.URL:
    """Return the URL as httpcore takes it. Raises UnsupportedProtocol."""
    if url.scheme not in ("http", "https"):
        raise httpx.UnsupportedProtocol("neither http nor https")
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Raise httpcore's exceptions as httpx's, which have the same names."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
    ) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error
