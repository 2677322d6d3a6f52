"""A service with one webhook subscription, whose way of answering a change a test decides."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests import wire

Way = Callable[["WebhookService", httpx.Request], httpx.Response]


@dataclass
class WebhookService:
    """Holds one subscription; `way` is how it answers a change, `reading` how it answers {}."""

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
        """Make the change that arrived last."""
        self.held = self.held | self.changes[-1]


def shows(service: WebhookService, request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=service.held)


def accepts(service: WebhookService, request: httpx.Request) -> httpx.Response:
    service.carry_out()
    return shows(service, request)


def ignores(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Say yes and change nothing."""
    return shows(service, request)


def answers(status: int, *, carried_out: bool = False, **body: Any) -> Way:
    """Answer with that status and body, having carried it out or not."""

    def way(service: WebhookService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out()
        return httpx.Response(status, json=body)

    return way


def garbage(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Carry it out, and answer what nobody can read."""
    service.carry_out()
    return httpx.Response(200, content=b"<html>Welcome")


def mistakes(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Carry it out, and answer with another subscription, which is as it was asked for."""
    service.carry_out()
    return httpx.Response(200, json=service.held | {"subscriptionId": "whs_2"})


def cut(*, carried_out: bool) -> Way:
    """End without an answer, the request having arrived."""

    def way(service: WebhookService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out()
        raise httpx.ReadError("cut", request=request)

    return way


def away(service: WebhookService, request: httpx.Request) -> httpx.Response:
    """Nobody is there."""
    raise httpx.ConnectError("refused", request=request)
