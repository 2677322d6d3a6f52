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

_WITHOUT_BODY = (204, 304)
"""Where HTTP knows of no body. One that is sent all the same stays unread on the connection."""


class PooledTransport(httpx.BaseTransport):
    """Reads share connections. A write has one of its own.

    A connection that was used before may be closed by the service at the very moment it is used
    again; a read is then sent once more, but of a write nobody could say whether it arrived.
    """

    def __init__(self) -> None:
        self._idle = _Idle()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the body of the answer is still to be read."""
        url, is_read = _core_url(request.url), request.method == "GET"
        connection = (self._idle.take(url.origin) if is_read else None) or _connection(url.origin)
        with _as_httpx_errors():
            answer = connection.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        # What is left unread would be taken for the answer to the next call.
        is_used_again = is_read and answer.status not in _WITHOUT_BODY
        done = partial(self._idle.give_back, connection) if is_used_again else connection.close
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer, done),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close the connections that are kept."""
        self._idle.close()


class _Idle:
    """Connections that no call uses now, the one used last at the end: it is the next to be used.

    They are kept here, and not in a pool of httpcore's, which looks at every one of them under one
    lock whenever a call begins or ends: with a hundred calls under way that takes longer than
    drawing the page.
    """

    def __init__(self) -> None:
        self._connections: deque[tuple[float, httpcore.HTTPConnection]] = deque()
        self._lock = Lock()

    def take(self, origin: httpcore.Origin) -> httpcore.HTTPConnection | None:
        """Return a connection that was used before and is still open, where there is one."""
        while connection := self._last():
            if connection.can_handle_request(origin) and not connection.has_expired():
                return connection
            connection.close()
        return None

    def give_back(self, connection: httpcore.HTTPConnection) -> None:
        """Keep a connection for the next call, and close those that none has used for too long."""
        if not connection.is_available():
            return
        now = time.monotonic()
        old = []
        with self._lock:
            self._connections.append((now, connection))
            while now - self._connections[0][0] > IDLE_S:
                old.append(self._connections.popleft()[1])
        for each in old:
            each.close()

    def close(self) -> None:
        """Close them all."""
        while connection := self._last():
            connection.close()

    def _last(self) -> httpcore.HTTPConnection | None:
        with self._lock:
            return self._connections.pop()[1] if self._connections else None


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


def _connection(origin: httpcore.Origin) -> httpcore.HTTPConnection:
    """Return a connection, made when it is first used."""
    return httpcore.HTTPConnection(
        origin,
        ssl_context=_trust(),
        keepalive_expiry=IDLE_S,
        network_backend=LimitedBackend(),
    )


def _core_url(url: httpx.URL) -> httpcore.URL:
    """Return the address as httpcore takes it. Raises UnsupportedProtocol."""
    if url.scheme not in ("http", "https"):
        raise httpx.UnsupportedProtocol("neither http nor https")
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
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
    ) as failure:
        raise getattr(httpx, type(failure).__name__)(str(failure)) from failure
