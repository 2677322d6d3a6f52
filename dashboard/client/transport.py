"""The way to the service: httpx over connection pools that keep to the time limit."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import httpcore
import httpx

from dashboard.client.network import LimitedBackend, pieces

POOL_SIZE = 64
"""Above the threads of a server process, so that no thread waits for another's connection."""
IDLE_S = 4.0
"""Many servers close an idle connection after 5 s."""


class PooledTransport(httpx.BaseTransport):
    """Reads share connections. A write has one of its own.

    A connection that was used before may be closed by the service at the very moment it is used
    again; a read is then sent once more, but of a write nobody could say whether it arrived.
    """

    def __init__(self) -> None:
        self._reads = _pool(_trust(), kept=POOL_SIZE)
        self._writes = _pool(_trust(), kept=0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the body of the answer is still to be read."""
        url = request.url
        pool = self._reads if request.method == "GET" else self._writes
        with _as_httpx_errors():
            answer = pool.handle_request(
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
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._reads.close()
        self._writes.close()


class _Body(httpx.SyncByteStream):
    """The body of an answer, in small pieces."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            for chunk in self._answer.iter_stream():
                yield from pieces(chunk)

    def close(self) -> None:
        self._answer.close()


@cache
def _trust() -> ssl.SSLContext:
    """Read whom to trust once: it takes 20 ms."""
    return httpx.create_ssl_context()


def _pool(tls: ssl.SSLContext, *, kept: int) -> httpcore.ConnectionPool:
    return httpcore.ConnectionPool(
        ssl_context=tls,
        max_connections=POOL_SIZE,
        max_keepalive_connections=kept,
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
