"""The page of a receiver that is turned on, and deliveries to it."""

import json
from typing import Any
from urllib.parse import urlsplit

from django.test import Client

from dashboard.webhooks.models import ReceivedDelivery
from tests.support.html import elements

PAGE = "/hooks/"

PUBLISHED = {"type": "page.version.published", "data": {"audienceId": "aud_1"}}


def switched_on(administrator: Client) -> str:
    """Turn the receiver on; return the path of its URL."""
    administrator.post(PAGE, {"do": "on"})
    return shown_address(administrator)


def shown_address(administrator: Client) -> str:
    return address_on(administrator.get(PAGE).text)


def address_on(html: str) -> str:
    [address] = [
        tag.attributes["data-copy"]
        for tag in elements(html, "button")
        if tag.attributes.get("aria-label") == "Copy the receiver URL"
    ]
    return urlsplit(address).path


def arrive(address: str, body: Any = PUBLISHED, **headers: str) -> Any:
    """Send a delivery without a session; return the response."""
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    stranger = Client(enforce_csrf_checks=True)
    return stranger.post(address, content, content_type="application/json", headers=headers)


class ReceiverPage:
    """The page of a receiver that is turned on, in an administrator's browser."""

    def __init__(self, client: Client) -> None:
        self.client, self.address = client, switched_on(client)

    def arrive(self, body: Any = PUBLISHED, **headers: str) -> Any:
        """Send a delivery without a session; return the response."""
        return arrive(self.address, body, **headers)

    def do(self, action: str, **data: str) -> Any:
        """Press a button."""
        return self.client.post(PAGE, {"do": action} | data)

    def page(self) -> str:
        return str(self.client.get(PAGE).text)

    def last(self, client: Client | None = None) -> str:
        """Return the page of the last delivery, as seen by this client or another one."""
        pk = ReceivedDelivery.objects.latest("pk").pk
        return str((client or self.client).get(f"/hooks/deliveries/{pk}/").text)
