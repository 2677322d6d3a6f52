"""A page that polls, as live.js does."""

from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

from tests.support.html import elements

BACKGROUND = {"HX-Request": "true", "HX-Target": "live", "X-Background": "1"}


class LivePage:
    """A page, and what its polls have returned since it was opened."""

    def __init__(self, client: Client, url: str = "/accounts/password/") -> None:
        self._client = client
        self._read(client.get(url).text)
        self.response: Any = None

    def poll(self, **params: str) -> "LivePage":
        """Poll once, as the page that shows what was returned before."""
        data = {"unread": self.unread, **params}
        self.response = self._client.get(
            self.url, headers=BACKGROUND, query_params=self.query | data
        )
        if self.response.status_code == 200:
            self._read(self.html)
        return self

    @property
    def html(self) -> str:
        return str(self.response.text)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.url).query).items()}

    @property
    def interval_s(self) -> int:
        return int(self.response.headers["X-Poll-Interval"])

    def _read(self, html: str) -> None:
        [element] = [e for e in elements(html, "div") if e.attributes.get("id") == "live"]
        self.url = unescape(str(element.attributes["data-url"]))
        self.topics = str(element.attributes["data-topics"] or "").split()
        for count in elements(html, "span"):
            if count.attributes.get("id") == "bell-count":
                self.unread = str(count.attributes["data-unread"])
