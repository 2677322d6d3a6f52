"""The way to the service: httpx over connections that keep to the time limit."""

import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock

import httpcore
import httpx

from dashboard.client.network import LimitedBackend, pieces

IDLE_S = 4.0
"""Many servers close an idle connection after 5 s."""


class PooledTransport(httpx.BaseTransport):
    """Reads share connections. A write has one of its own.

    A connection that was used before may be closed by the service at the very moment it is used
    again; a read is then sent once more, but of a write nobody could say whether it arrived.
    """

    def __init__(self) -> None:
        self._idle = _Idle()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the body of the answer is still to be read."""
        url = request.url
        is_read = request.method == "GET"
        way = self._idle.take() if is_read else _way()
        with _as_httpx_errors():
            answer = way.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=url.raw_scheme,
                        host=url.raw_host,
                        port=url.port,
                        target=url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer, partial(self._idle.give_back, way) if is_read else way.close),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close the connections that are kept."""
        self._idle.close()


class _Idle:
    """Connections that no call uses now, the one used last at the end: it is the next to be used.

    Each is a pool of one. A pool of many looks at every one of them under one lock whenever a call
    begins or ends: with a hundred calls under way that takes longer than drawing the page.
    """

    def __init__(self) -> None:
        self._ways: deque[tuple[float, httpcore.ConnectionPool]] = deque()
        self._lock = Lock()

    def take(self) -> httpcore.ConnectionPool:
        """Return a way to the service: one that was used before, where there is one."""
        with self._lock:
            return self._ways.pop()[1] if self._ways else _way()

    def give_back(self, way: httpcore.ConnectionPool) -> None:
        """Keep a way for the next call, and close those that none has used for too long."""
        now = time.monotonic()
        old = []
        with self._lock:
            self._ways.append((now, way))
            while now - self._ways[0][0] > IDLE_S:
                old.append(self._ways.popleft()[1])
        for each in old:
            each.close()

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            ways = [way for _, way in self._ways]
            self._ways.clear()
        for way in ways:
            way.close()


class _Body(httpx.SyncByteStream):
    """The body of an answer, in small pieces."""

    def __init__(self, answer: httpcore.Response, done: Callable[[], None]) -> None:
        self._answer = answer
        self._done = done

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            for chunk in self._answer.iter_stream():
                yield from pieces(chunk)

    def close(self) -> None:
        self._answer.close()
        self._done()


@cache
def _trust() -> ssl.SSLContext:
    """Read whom to trust once: it takes 20 ms."""
    return httpx.create_ssl_context()


def _way() -> httpcore.ConnectionPool:
    """Return a way to the service: one connection, made when it is needed."""
    return httpcore.ConnectionPool(
        ssl_context=_trust(),
        max_connections=1,
        keepalive_expiry=IDLE_S,
        network_backend=LimitedBackend(),
    )


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Give httpcore's exceptions their names in httpx, which are the same."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
    ) as failure:
        raise getattr(httpx, type(failure).__name__)(str(failure)) from failure
