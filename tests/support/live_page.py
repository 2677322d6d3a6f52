"""A page that polls, as live.js does."""

from html import unescape
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from django.test import Client

from tests.support.html import Element, elements, text

BACKGROUND = {"HX-Request": "true", "HX-Target": "live-poll", "X-Background": "1"}


class LivePage:
    """A page, with what its polls have returned."""

    def __init__(self, client: Client, url: str = "/accounts/password/") -> None:
        self._client = client
        self._read(client.get(url).text)
        self.response: Any = None

    def poll(self, **params: str) -> "LivePage":
        """Poll once with the page's current state."""
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
        matches = [e for e in elements(html, "div") if e.attributes.get("id") == "live-poll"]
        if not matches:
            return  # The session has ended.
        [self.element] = matches
        self.url = unescape(str(self.element.attributes["data-url"]))
        self.topics = str(self.element.attributes["data-topics"] or "").split()
        for count in elements(html, "span"):
            if count.attributes.get("id") == "bell-count":
                self.unread = str(count.attributes["data-unread"])


class Region:
    """A region of a page that is fetched again when one of its topics changes."""

    def __init__(self, client: Client, url: str, name: str) -> None:
        self._client, self._url, self._name = client, url, name
        self.html = client.get(url).content.decode()

    def refresh(self, *topics: str) -> "Region":
        """Fetch the region again, as live.js does after a poll with these topics."""
        headers = BACKGROUND | {"HX-Target": self._name}
        if self.is_moving:
            headers |= {"X-Moving": "1"}
        elif topics:
            headers |= {"X-Topics": " ".join(topics)}
        if self.row_ids:
            headers |= {"X-Rows": " ".join(quote(name, safe="") for name in self.row_ids)}
        url = str(self.element.attributes.get("data-live-url") or self._url)
        response = self._client.get(url, headers=headers)
        assert response.status_code == 200
        self.html = response.content.decode()
        return self

    @property
    def element(self) -> Element:
        return next(e for e in elements(self.html) if e.attributes.get("id") == self._name)

    @property
    def topics(self) -> list[str]:
        return self.element.attributes["data-live"].split()

    @property
    def is_moving(self) -> bool:
        """Whether the region is fetched every few seconds."""
        return "data-moving" in self.element.attributes

    @property
    def is_soon(self) -> bool:
        """Whether the page polls every few seconds without reading from the service."""
        return "data-soon" in self.element.attributes

    @property
    def text(self) -> str:
        return text(self._from_here_on)

    @property
    def _from_here_on(self) -> str:
        """The page's HTML from the region on, without the sidebar."""
        return self.html[self.html.index(f'id="{self._name}"') :]

    @property
    def row_ids(self) -> list[str]:
        rows = [*elements(self._from_here_on, "tr"), *elements(self._from_here_on, "li")]
        return [row.attributes["id"] for row in rows if "id" in row.attributes]

    @property
    def rows(self) -> list[str]:
        return [text(row.split("</tr>")[0]) for row in self.html.split('<tr role="row" id="')[1:]]
