"""Size and number of the requests of a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page

COLD_KB, COLD_REQUESTS = 64, 12
SECOND_KB, SECOND_REQUESTS = 18, 1
"""Limits for the first page, and for any page after it.

Scripts for live updates take 3 KB of the first page, presence takes 1 KB of a list, and the script
and styles for comments take 2 KB of a release."""
VISITS = 1
"""Limit for requests that record a visit after the page is loaded; no one waits for them."""
VISIT_PATHS = ("/notifications/opened/", "/visited/")


@dataclass
class Load:
    """What one page transferred, headers included."""

    name: str
    requests: int = 0
    """Number of requests, without those that record a visit."""
    visits: int = 0
    page_bytes: int = 0
    files_bytes: int = 0
    _documents: list[str] = field(default_factory=list)
    _of_visits: set[str] = field(default_factory=set)
    _counted: set[str] = field(default_factory=set)
    _is_polled: bool = False

    @property
    def kb(self) -> float:
        """Total size in thousands of bytes."""
        return (self.page_bytes + self.files_bytes) / 1000

    @property
    def summary(self) -> str:
        """Sizes and counts as readable text."""
        page, files = self.page_bytes / 1000, self.files_bytes / 1000
        return (
            f"{self.name}: {page:.0f} KB of HTML, {files:.0f} KB besides, {self.requests} requests"
            f"{f', {self.visits} of a visit' if self.visits else ''}"
        )

    def count_request(self, event: Any) -> None:
        """Record a request, unless it belongs to the previous page or follows a poll."""
        if event["type"] == "Document":
            self._documents.append(event["requestId"])
        # A page's loader has the same id as the request for its document.
        if event["loaderId"] not in self._documents[:1]:
            return
        # A poll comes by time, and so does what it brings: a slow machine sees them here.
        self._is_polled |= "/live/?" in event["request"]["url"]
        if not self._is_polled:
            self._counted.add(event["requestId"])
        if event["request"]["url"].endswith(VISIT_PATHS):
            self._of_visits.add(event["requestId"])

    def drop_if_cached(self, event: Any) -> None:
        """Drop the request if its response came from the disk cache."""
        if event["response"].get("fromDiskCache"):
            self.drop_request(event)

    def drop_request(self, event: Any) -> None:
        """Drop a request that the memory cache responded to."""
        self._counted.discard(event["requestId"])

    def count_response(self, event: Any) -> None:
        """Count a complete response."""
        if event["requestId"] not in self._counted:
            return  # The previous page requested it, or it was cached.
        if event["requestId"] in self._of_visits:
            self.visits += 1
        else:
            self.requests += 1
        if event["requestId"] in self._documents:
            self.page_bytes += int(event["encodedDataLength"])
        else:
            self.files_bytes += int(event["encodedDataLength"])


def load(context: BrowserContext, url: str, name: str) -> Load:
    """Open a page in a new tab and measure it."""
    page = context.new_page()
    with weighed(page, name) as loaded:
        page.goto(url, wait_until="networkidle")
    page.close()
    return loaded


@contextmanager
def weighed(page: Page, name: str, *, cold: bool = False) -> Iterator[Load]:
    """Measure the next page of a tab; cached files don't count."""
    load, wire = Load(name), page.context.new_cdp_session(page)
    wire.on("Network.requestWillBeSent", load.count_request)
    wire.on("Network.requestServedFromCache", load.drop_request)
    wire.on("Network.responseReceived", load.drop_if_cached)
    wire.on("Network.loadingFinished", load.count_response)
    wire.send("Network.enable")
    if cold:
        wire.send("Network.clearBrowserCache")
    yield load
    wire.detach()
