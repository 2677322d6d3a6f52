"""A review in a user's browser: one item at a time, and decisions on it."""

import re
from typing import Any, Self

from django.test import Client

from tests.support.html import elements, text

AROUND = {"HX-Request": "true", "HX-Target": "around"}


class ReviewDesk:
    """The page as its last response showed it, and its forms."""

    def __init__(self, client: Client, *, query: str = "") -> None:
        self.client, self.query = client, query
        self.html, self.status, self.url = "", 0, ""

    def begin(self) -> Self:
        """Start a review of a list of audiences, and open its first item."""
        return self.show(self.client.post("/review/", {"query": self.query}, follow=True))

    def open(self, number: int | None = None) -> Self:
        """Open an item, or reload the current one."""
        url = self.url if number is None else f"/review/{self.run_id}/{number}/"
        return self.show(self.client.get(url, follow=True))

    def show(self, response: Any) -> Self:
        self.html, self.status = response.text, response.status_code
        self.url = response.wsgi_request.path if response.status_code < 400 else self.url
        return self

    @property
    def run_id(self) -> int:
        return int(self.url.split("/")[2])

    @property
    def number(self) -> int:
        """The number of the item; 0 on the summary."""
        parts = self.url.strip("/").split("/")
        return int(parts[2]) if len(parts) > 2 else 0

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def name(self) -> str:
        """The name of the current audience."""
        heading = re.search(r'<h1 id="(?:item|empty)-h".*?</h1>', self.html, re.DOTALL)
        assert heading
        return text(heading[0])

    @property
    def place(self) -> str:
        """The position, such as "2 of 5, 1 later"."""
        words = re.search(r"<p class=\"small\">\s*<b>.*?</p>", self.html, re.DOTALL)
        assert words
        return text(words[0])

    @property
    def last(self) -> str:
        """The text about the last decision."""
        part = re.search(r'<div class="last" id="last".*?</p>', self.html, re.DOTALL)
        return text(part[0]) if part else ""

    @property
    def shown(self) -> str:
        fields = [element.attributes for element in elements(self.html, "input")]
        return next((field["value"] for field in fields if field.get("name") == "shown"), "")

    def decide(self, act: str, *, shown: str | None = None, **fields: str) -> Self:
        """Send a decision, and open the next page."""
        form = {"shown": self.shown if shown is None else shown} | fields
        return self.show(self.client.post(f"{self.url}{act}/", form, follow=True))

    def report(self) -> None:
        """Report the place of the open page, like its script."""
        names = {"data-tab": "tab", "data-here": "place", "data-doing": "doing"}
        [line] = [e.attributes for e in elements(self.html, "div") if "data-here" in e.attributes]
        fields = {name: line[attribute] for attribute, name in names.items()}
        assert self.client.post("/live/here/", fields).status_code == 200

    def next(self) -> Self:
        return self.decide("next")

    def undo(self) -> Self:
        return self.decide("undo")
