"""The client of the Page and Audience Publishing Service: nine operations, four resources."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import httpx

from dashboard.client.calls import Call
from dashboard.client.reports import CallReport
from dashboard.client.resources.audiences import Audiences
from dashboard.client.resources.pages import Pages
from dashboard.client.resources.people import People
from dashboard.client.resources.webhook_subscriptions import WebhookSubscriptions
from dashboard.client.session import Session, unguarded


class PublishingClient:
    """Calls the service. One is made for a process, after any fork, and shared by its threads.

    `timeout_s` bounds a call as a whole, its retries and waits included. `transport` takes the
    network's place (tests, the embedded API). `on_call` hears of each call once, after its last
    attempt, in the thread that made it; what it raises is logged and goes no further.
    `more_headers` is asked at each request for headers to send besides those of the spec.
    `guard` stands around each call, and may end it by an APIError before anything is sent.
    Raises ValueError on an API key that no header can carry.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout_s: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        on_call: Callable[[CallReport], None] | None = None,
        more_headers: Callable[[], dict[str, str]] = dict,
        guard: Callable[[Call], AbstractContextManager[None]] = unguarded,
    ) -> None:
        self._session = Session(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            transport=transport,
            on_call=on_call,
            more_headers=more_headers,
            guard=guard,
        )
        self.pages = Pages(self._session)
        self.audiences = Audiences(self._session)
        self.people = People(self._session)
        self.webhook_subscriptions = WebhookSubscriptions(self._session)

    def __repr__(self) -> str:
        return f"PublishingClient(base_url={self._session.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._session.close()
