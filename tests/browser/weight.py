"""What came over the wire for a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page

COLD_KB, COLD_REQUESTS = 60, 12
SECOND_KB, SECOND_REQUESTS = 15, 1
"""The most that the first page may cost, and any page after it."""


@dataclass
class Load:
    """What came over the wire for one page, headers included."""

    name: str
    requests: int = 0
    page_bytes: int = 0
    files_bytes: int = 0
    _documents: list[str] = field(default_factory=list)
    _not_counted: set[str] = field(default_factory=set)

    @property
    def kb(self) -> float:
        """All of it, in thousands of bytes."""
        return (self.page_bytes + self.files_bytes) / 1000

    @property
    def said(self) -> str:
        """The parts of it, for a person."""
        page, files = self.page_bytes / 1000, self.files_bytes / 1000
        return (
            f"{self.name}: {page:.0f} KB of HTML, {files:.0f} KB besides, {self.requests} requests"
        )

    def asked(self, event: Any) -> None:
        """Note a request; what the page before it still asks for is not counted.

        Nor is what is recorded of a visit once the page is there: no one waits for it.
        """
        if event["type"] == "Document":
            self._documents.append(event["requestId"])
        # The loader of a page is named as the request for its document is.
        is_of_visit = event["request"]["url"].endswith(("/notifications/opened/", "/visited/"))
        if is_of_visit or event["loaderId"] not in self._documents[:1]:
            self._not_counted.add(event["requestId"])

    def answered(self, event: Any) -> None:
        """Note whether an answer came over the wire."""
        if event["response"].get("fromDiskCache"):
            self.cached(event)

    def cached(self, event: Any) -> None:
        """Note an answer that did not."""
        self._not_counted.add(event["requestId"])

    def came(self, event: Any) -> None:
        """Count an answer that is complete."""
        if event["requestId"] in self._not_counted:
            return
        self.requests += 1
        if event["requestId"] in self._documents:
            self.page_bytes += int(event["encodedDataLength"])
        else:
            self.files_bytes += int(event["encodedDataLength"])


def load(context: BrowserContext, url: str, name: str) -> Load:
    """Open a page in a tab of its own and count what came."""
    page = context.new_page()
    with weighed(page, name) as loaded:
        page.goto(url, wait_until="networkidle")
    page.close()
    return loaded


@contextmanager
def weighed(page: Page, name: str, *, cold: bool = False) -> Iterator[Load]:
    """Count what comes for the next page of a tab; a file of the cache is no request."""
    load, wire = Load(name), page.context.new_cdp_session(page)
    wire.on("Network.requestWillBeSent", load.asked)
    wire.on("Network.requestServedFromCache", load.cached)
    wire.on("Network.responseReceived", load.answered)
    wire.on("Network.loadingFinished", load.came)
    wire.send("Network.enable")
    if cold:
        wire.send("Network.clearBrowserCache")
    yield load
    wire.detach()
