"""A page with an element that polls by htmx, followed like in a browser."""

from typing import Self

from django.test import Client

from tests.support.html import Element, elements, text


class PolledPage:
    """A page or one of its partials; `name` is the id of the element that polls."""

    def __init__(self, client: Client, url: str, name: str, *, is_partial: bool = False) -> None:
        headers = {"HX-Request": "true", "HX-Target": name} if is_partial else None
        response = client.get(url, headers=headers)
        assert response.status_code == 200
        self.html = response.text
        self.client, self.name = client, name

    @property
    def poll(self) -> Element:
        return next(e for e in elements(self.html) if e.attributes.get("id") == self.name)

    @property
    def trigger(self) -> str:
        return self.poll.attributes["hx-trigger"]

    @property
    def poll_url(self) -> str:
        return self.poll.attributes.get("hx-get", "")

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def rows(self) -> list[str]:
        return [text(row.split("</tr>")[0]) for row in self.html.split("<tr ")[1:]]

    def next(self, more: str = "") -> Self:
        """Return the response to the next poll, with `more` added to its query string."""
        return type(self)(self.client, self.poll_url + more, self.name, is_partial=True)
