"""Clients of fake services, and an example call of each of the nine operations."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
import pytest

from dashboard.client import APIError, PublishingClient
from dashboard.contract.pages import PageRequest
from dashboard.contract.webhooks import SubscriptionPatch
from tests.support import wire
from tests.support.small_server import Script, SmallServer, serving

ErrorT = TypeVar("ErrorT", bound=APIError)

PEOPLE = json.dumps(wire.envelope(wire.person())).encode()
KEY = "key-0123456789-never-shown"

PAGE_REQUEST = PageRequest(
    actions=[],
    action_card_widgets=[],
    brand_id="brand_1",
    name="Fleet telematics",
    page_context="For regional carriers.",
    scripts=[],
)

READS: dict[str, Callable[[PublishingClient], Any]] = {
    "List pages": lambda client: client.pages.list(),
    "Get page": lambda client: client.pages.get("page_1"),
    "List audiences": lambda client: client.audiences.list("page_1"),
    "Get audience messages": lambda client: client.audiences.messages("page_1", "aud_1"),
    "List people": lambda client: client.people.list(),
    "Search people": lambda client: client.people.search(query="ada"),
}
WRITES: dict[str, Callable[[PublishingClient], Any]] = {
    "Create page": lambda client: client.pages.create(PAGE_REQUEST),
    "Publish audience version": lambda client: client.audiences.publish("page_1", "aud_1", "ver_2"),
    "Update webhook subscription": lambda client: client.webhook_subscriptions.update(
        "whs_1", SubscriptionPatch()
    ),
}


def client_answering(
    answer: Callable[[httpx.Request], httpx.Response], **options: Any
) -> PublishingClient:
    """Return a client whose service is this function."""
    transport = httpx.MockTransport(answer)
    options = {"base_url": "http://service.example", "api_key": KEY} | options
    return PublishingClient(transport=transport, **options)


def client_saying(*args: Any, **kwargs: Any) -> PublishingClient:
    """Return a client whose service always gives this response; arguments as `httpx.Response`."""
    return client_answering(lambda request: httpx.Response(*args, **kwargs))


def client_of(url: str, **options: Any) -> PublishingClient:
    """Return a client over the network. Its default time limit is enough on a busy machine."""
    return PublishingClient(**{"base_url": url, "api_key": KEY, "timeout_s": 30.0} | options)


def error_of(kind: type[ErrorT], call: Callable[..., object], *args: Any) -> ErrorT:
    """Call the function, which must raise this kind of error; return the error."""
    with pytest.raises(kind) as caught:
        call(*args)
    return caught.value


@contextmanager
def client_of_server(
    *scripts: Script, **options: Any
) -> Iterator[tuple[PublishingClient, SmallServer]]:
    """Yield a client over the network and the small server that it calls."""
    with serving(*scripts) as server, client_of(server.url, **options) as client:
        yield client, server
