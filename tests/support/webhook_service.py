"""A fake service with one webhook subscription. Tests set its response to a change."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support import wire

Way = Callable[["WebhookService", httpx.Request], httpx.Response]


@dataclass
class WebhookService:
    """Has one subscription. `way` responds to a change, `reading` to an empty PATCH."""

    way: Way = field(default_factory=lambda: accepts)
    held: dict[str, Any] = field(default_factory=wire.subscription)
    reading: Way = field(default_factory=lambda: shows)
    changes: list[Any] = field(default_factory=list)
    """The body of each change that arrived."""
    reads: int = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        if body == {}:
            self.reads += 1
            return self.reading(self, request)
        self.changes.append(body)
        return self.way(self, request)

    def carry_out(self) -> None:
        """Apply the last change that arrived."""
        self.held = self.held | self.changes[-1]


def shows(service: WebhookService, request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=service.held)


def accepts(service: WebhookService, request: httpx.Request) -> httpx.Response:
    service.carry_out()
    return shows(service, request)


def ignores(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Respond with success, but change nothing."""
    return shows(service, request)


def answers(status: int, *, carried_out: bool = False, **body: Any) -> Way:
    """Respond with that status and body, with or without applying the change."""

    def way(service: WebhookService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out()
        return httpx.Response(status, json=body)

    return way


def garbage(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Apply the change and respond with an unreadable body."""
    service.carry_out()
    return httpx.Response(200, content=b"<html>Welcome")


def mistakes(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Apply the change and respond with another subscription that has the requested fields."""
    service.carry_out()
    return httpx.Response(200, json=service.held | {"subscriptionId": "whs_2"})


def cut(*, carried_out: bool) -> Way:
    """Receive the request, but send no response."""

    def way(service: WebhookService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out()
        raise httpx.ReadError("cut", request=request)

    return way


def away(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Refuse the connection."""
    raise httpx.ConnectError("refused", request=request)
