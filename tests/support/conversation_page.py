"""The page of a conversation in a user's browser, and the service behind it."""

import json
from typing import Any, Self

import httpx
from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text

URL = "/pages/page_1/audiences/aud_1/conversation/"


def visible(html: str) -> list[str]:
    """Return the ids of the messages that are not hidden."""
    return [
        element.attributes["id"]
        for element in elements(html, "li")
        if element.attributes.get("class") == "message" and "hidden" not in element.attributes
    ]


class ConversationPage:
    """The page as its last response showed it. A test sets the conversation's `data`."""

    def __init__(self, client: Client, service: FakeService) -> None:
        self.client, self.service = client, service
        self.data = wire.conversation()
        """The conversation as the service returns it."""
        self.audiences = [wire.audience()]
        self.html, self.status, self.poll_url = "", 0, ""
        service.answer = self.respond

    def respond(self, request: httpx.Request) -> httpx.Response:
        """Respond as the service does."""
        if request.url.path.endswith("/messages"):
            # JSON sends lone surrogates as escapes.
            return httpx.Response(200, text=json.dumps(self.data))
        return httpx.Response(200, json=wire.envelope(*self.audiences))

    def fail(self, status: int, **body: Any) -> None:
        """Make the service respond with this status to requests for the conversation."""

        def respond(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/messages"):
                return httpx.Response(status, **body)
            return self.respond(request)

        self.service.answer = respond

    @property
    def messages(self) -> list[Any]:
        return list(self.data["messages"])

    @messages.setter
    def messages(self, messages: list[Any]) -> None:
        self.data["messages"] = messages

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def visible(self) -> list[str]:
        """The ids of the messages that are not hidden."""
        return visible(self.html)

    def show(self, response: Any) -> Self:
        self.html, self.status = response.text, response.status_code
        polling = [e for e in elements(self.html) if e.attributes.get("id") == "newer"]
        if polling:
            self.poll_url = polling[0].attributes.get("data-live-url", "")
        return self

    def get(self, query: str = "", **headers: str) -> Any:
        """Return the response to the page's URL with this path or query added."""
        return self.client.get(URL + query, headers=headers or None)

    def open(self, query: str = "", *, status: int = 200) -> Self:
        assert self.show(self.get(query)).status == status, self.text
        return self

    def poll(self, query: str = "") -> Self:
        """Poll for news, as a browser with this query string does."""
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{URL}{query}"}
        return self.show(self.client.get(self.poll_url, headers=headers))

    def swapped(self, name: str, how: str = "morph") -> str:
        """Return the response's HTML from its out-of-band swap into `name` on."""
        return self.html.split(f'hx-swap-oob="{how}:#{name}"')[1]
