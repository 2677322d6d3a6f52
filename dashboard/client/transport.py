"""An httpx transport whose calls keep to the deadline of `dashboard/network.py`."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from dashboard.network import DeadlineBackend, chunks, ssl_context

KEEPALIVE_S = 4.0
"""Many servers close an idle connection after 5 s."""

_WITHOUT_BODY = (204, 304)
"""Statuses without a body in HTTP. If one is sent anyway, it is not read."""


def proxy_for(service: httpx.URL) -> httpx.Proxy | None:
    proxies = getproxies()
    url = proxies.get(service.scheme) or proxies.get("all")
    if not url or proxy_bypass(f"{service.host}:{service.port}" if service.port else service.host):
        return None
    return httpx.Proxy(url if "://" in url else f"http://{url}")


class PooledTransport(httpx.BaseTransport):
    """Reads share connections; each write has its own.

    The service may close a reused connection just as it is used again. A read is then retried. For
    a write, it would be unknown whether it arrived.
    """

    def __init__(self, *, proxy: httpx.Proxy | None = None) -> None:
        self._new_pool = partial(
            httpcore.ConnectionPool,
            ssl_context=ssl_context(),
            proxy=httpcore.Proxy(_core_url(proxy.url), auth=proxy.raw_auth) if proxy else None,
            max_connections=None,
            keepalive_expiry=KEEPALIVE_S,
            network_backend=DeadlineBackend(),
        )
        self._reads = self._new_pool()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_read = request.method == "GET"
        pool = self._reads if is_read else self._new_pool()
        core_request = httpcore.Request(
            method=request.method,
            url=_core_url(request.url),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx_errors():
            response = pool.handle_request(core_request)
        if response.status in _WITHOUT_BODY:
            # Unread data would be mistaken for the response to the next call.
            response.extensions["network_stream"].close()
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, pool=None if is_read else pool),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._reads.close()


class _Body(httpx.SyncByteStream):
    """The body of a response, in small chunks.

    Closing it also closes `pool`, if any, and so the connection of a write.
    """

    def __init__(
        self, response: httpcore.Response, *, pool: httpcore.ConnectionPool | None
    ) -> None:
        self._response, self._pool = response, pool

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            for data in self._response.iter_stream():
                yield from chunks(data)

    def close(self) -> None:
        self._response.close()
        if self._pool:
            self._pool.close()


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
