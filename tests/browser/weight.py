"""What came over the wire for a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page

COLD_KB, COLD_REQUESTS = 62, 12
SECOND_KB, SECOND_REQUESTS = 16, 1
"""The most that the first page may cost, and any page after it.

The scripts of live screens take 3 KB of the first, and who is on an audience 1 KB of a list."""
VISITS = 1
"""The most requests that record a visit once a page is there: no one waits for them."""
VISIT_PATHS = ("/notifications/opened/", "/visited/")


@dataclass
class Load:
    """What came over the wire for one page, headers included."""

    name: str
    requests: int = 0
    """Those that record a visit are not counted."""
    visits: int = 0
    page_bytes: int = 0
    files_bytes: int = 0
    _documents: list[str] = field(default_factory=list)
    _of_visits: set[str] = field(default_factory=set)
    _counted: set[str] = field(default_factory=set)

    @property
    def kb(self) -> float:
        """All of it, in thousands of bytes."""
        return (self.page_bytes + self.files_bytes) / 1000

    @property
    def summary(self) -> str:
        """The parts of it, for a person."""
        page, files = self.page_bytes / 1000, self.files_bytes / 1000
        return (
            f"{self.name}: {page:.0f} KB of HTML, {files:.0f} KB besides, {self.requests} requests"
            f"{f', {self.visits} of a visit' if self.visits else ''}"
        )

    def count_request(self, event: Any) -> None:
        """Note a request; what the page before it still asks for is not counted."""
        if event["type"] == "Document":
            self._documents.append(event["requestId"])
        # The loader of a page is named as the request for its document is.
        if event["loaderId"] in self._documents[:1]:
            self._counted.add(event["requestId"])
        if event["request"]["url"].endswith(VISIT_PATHS):
            self._of_visits.add(event["requestId"])

    def answered(self, event: Any) -> None:
        """Note whether an answer came over the wire."""
        if event["response"].get("fromDiskCache"):
            self.cached(event)

    def cached(self, event: Any) -> None:
        """Note an answer that did not."""
        self._counted.discard(event["requestId"])

    def came(self, event: Any) -> None:
        """Count an answer that is complete."""
        if event["requestId"] not in self._counted:
            return  # The page before has requested it, or the cache had it.
        if event["requestId"] in self._of_visits:
            self.visits += 1
        else:
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
    wire.on("Network.requestWillBeSent", load.count_request)
    wire.on("Network.requestServedFromCache", load.cached)
    wire.on("Network.responseReceived", load.answered)
    wire.on("Network.loadingFinished", load.came)
    wire.send("Network.enable")
    if cold:
        wire.send("Network.clearBrowserCache")
    yield load
    wire.detach()
