"""What came over the wire for a page."""

from dataclasses import dataclass
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


def load(context: BrowserContext, url: str, name: str) -> Load:
    """Open a page in a tab of its own and count what came."""
    page = context.new_page()
    loaded = weighed(page, name)
    page.goto(url, wait_until="networkidle")
    page.close()
    return loaded


def weighed(page: Page, name: str, *, cold: bool = False) -> Load:
    """Return what comes from now on in a tab; a file of the cache is no request."""
    load, document = Load(name), {"id": ""}
    cached: set[str] = set()
    wire = page.context.new_cdp_session(page)

    def on_request(event: Any) -> None:
        document["id"] = document["id"] or event["requestId"]

    def answered(event: Any) -> None:
        if event["response"].get("fromDiskCache"):
            cached.add(event["requestId"])

    def came(event: Any) -> None:
        if event["requestId"] in cached:
            return
        load.requests += 1
        if event["requestId"] == document["id"]:
            load.page_bytes += int(event["encodedDataLength"])
        else:
            load.files_bytes += int(event["encodedDataLength"])

    wire.on("Network.requestWillBeSent", on_request)
    wire.on("Network.requestServedFromCache", lambda event: cached.add(event["requestId"]))
    wire.on("Network.responseReceived", answered)
    wire.on("Network.loadingFinished", came)
    wire.send("Network.enable")
    if cold:
        wire.send("Network.clearBrowserCache")
    return load
