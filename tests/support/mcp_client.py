"""The official client of the Model Context Protocol, with the application in this process."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from typing import Any

import anyio
import httpx2
from django.http import HttpResponse
from django.test import Client as DjangoClient
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import LATEST_HANDSHAKE_VERSION

Sent = tuple[httpx2.Request, bytes, "Future[HttpResponse]"]


class InProcess(httpx2.AsyncBaseTransport):
    """Hands each request to the thread that has the test's transaction."""

    def __init__(self, requests: "Queue[Sent | None]", offers: str) -> None:
        self.requests = requests
        self.offers = offers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response of the application."""
        future: Future[HttpResponse] = Future()
        body = await request.aread()
        if b'"initialize"' in body:
            body = body.replace(LATEST_HANDSHAKE_VERSION.encode(), self.offers.encode())
        self.requests.put((request, body, future))
        response = await asyncio.wrap_future(future)
        return httpx2.Response(
            response.status_code, headers=dict(response.headers), content=response.content
        )


def run_with_client(
    token: str,
    mode: str,
    story: Callable[[Client], Awaitable[Any]],
    *,
    offers: str = LATEST_HANDSHAKE_VERSION,
) -> Any:
    """Run a story with a client in one of its modes: a revision, "auto" or "legacy".

    A "legacy" client offers only its newest revision. `offers` replaces that on the wire, so that
    client and server agree on an earlier one.
    """
    requests: Queue[Sent | None] = Queue()

    async def connect() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(
            transport=InProcess(requests, offers), headers=headers
        ) as http:
            transport = streamable_http_client("http://testserver/mcp/", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await story(client)

    with ThreadPoolExecutor(1) as thread:
        end = thread.submit(anyio.run, connect)
        end.add_done_callback(lambda _: requests.put(None))
        while (sent := requests.get()) is not None:
            request, body, future = sent
            headers = {name: value for name, value in request.headers.items() if name != "host"}
            kind = headers.pop("content-type", "")
            method, path = request.method, request.url.path
            future.set_result(
                DjangoClient().generic(method, path, body, content_type=kind, headers=headers)
            )
    return end.result()
