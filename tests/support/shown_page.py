"""A page in a user's browser, as its last response showed it."""

from typing import Any, Self

from django.test import Client

from tests.support.html import elements, text


class ShownPage:
    """The base of page objects: a client and its last response."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.html, self.status, self.headers = "", 0, dict[str, str]()

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def location(self) -> str:
        """The URL of the last redirect; empty without one."""
        return self.headers.get("Location", "")

    def field(self, name: str) -> dict[str, str]:
        """Return the attributes of the last field of that name."""
        inputs = [element.attributes for element in elements(self.html, "input")]
        return [field for field in inputs if field.get("name") == name][-1]

    def value(self, name: str) -> str:
        """Return the value of the last field of that name."""
        return self.field(name).get("value", "")

    def checked(self, name: str) -> list[str]:
        """Return the values of the checked boxes of that name."""
        boxes = [element.attributes for element in elements(self.html, "input")]
        return [box["value"] for box in boxes if box.get("name") == name and "checked" in box]

    def show(self, response: Any) -> Self:
        self.html, self.status, self.headers = response.text, response.status_code, response.headers
        return self
