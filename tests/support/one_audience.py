"""A service with one page and some audiences, for tests of an audience's pages."""

from typing import Any
from urllib.parse import urlencode

import httpx
from django.test import Client
from django.urls import reverse

from tests.support import wire
from tests.support.fake_service import FakeService

AT = ("page_1", "aud_1")


def serve(
    fake_service: FakeService, *audiences: dict[str, Any], page: dict[str, Any] | None = None
) -> None:
    """Make the service return these audiences and the page."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(*audiences))
        return httpx.Response(200, json=page or wire.page())

    fake_service.answer = answer


def address(name: str, *more: str, **query: str) -> str:
    """Return the URL of a page of the audience."""
    url = reverse(name, args=[*AT, *more])
    return f"{url}?{urlencode(query)}" if query else url


def get(client: Client, name: str, *, target: str = "", status: int = 200, **query: str) -> str:
    """Return the HTML of a page of the audience, or of the partial that htmx targets."""
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = client.get(address(name, **query), headers=headers)
    assert response.status_code == status, response.text
    return response.text
