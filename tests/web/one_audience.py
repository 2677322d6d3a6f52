"""A service that has one page with some audiences, for the tests of an audience's pages."""

from typing import Any
from urllib.parse import urlencode

import httpx
from django.test import Client
from django.urls import reverse

from tests import wire
from tests.far_end import FarEnd

AT = ("page_1", "aud_1")


def serve(far_end: FarEnd, *audiences: dict[str, Any], page: dict[str, Any] | None = None) -> None:
    """Let the service answer with these audiences, and with the page."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(*audiences))
        return httpx.Response(200, json=page or wire.page())

    far_end.answer = answer


def address(name: str, *more: str, **query: str) -> str:
    """Return the address of a page of the audience."""
    found = reverse(name, args=[*AT, *more])
    return f"{found}?{urlencode(query)}" if query else found


def get(client: Client, name: str, *, target: str = "", status: int = 200, **query: str) -> str:
    """Return the HTML of a page of the audience, or of the part that htmx aims at."""
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = client.get(address(name, **query), headers=headers)
    assert response.status_code == status, response.content.decode()
    return response.content.decode()
