"""What a browser loads: with an empty cache, and for the page after the first."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row, Unmeasured
from tests.benchmarks.part_lists import LISTS, NAMES
from tests.benchmarks.sides import Served
from tests.browser.addresses import addresses

CHROMIUM = Path(os.environ.get("CHROMIUM_PATH", "/usr/bin/chromium"))
COLD_KB, COLD_REQUESTS = 60, 12
SECOND_KB, SECOND_REQUESTS = 15, 1
FIRST = "overview"


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


def figures(bench: Bench) -> Iterator[Row]:
    """Load each page of the demo, and a list of each peer."""
    if not CHROMIUM.exists():
        yield Unmeasured("weight of a page", f"there is no {CHROMIUM}")
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield from _ours(chromium, bench.demo)
        for name, peer in bench.peers.items():
            if isinstance(peer, Served):
                cold = _cold(chromium, peer, NAMES[name], LISTS[0].peer_address(name))
                yield Figure(f"first load of {NAMES[name]}", cold.kb, None, "KB", cold.said)
        chromium.close()


def _ours(chromium: Browser, served: Served) -> Iterator[Row]:
    pages = addresses(served.server)
    del pages["no such page"], pages["page never seen"]
    cold = [_cold(chromium, served, name, address) for name, address in pages.items()]
    second = [
        _second(chromium, served, name, pages[FIRST], address)
        for name, address in pages.items()
        if name != FIRST
    ]
    listed = next(load for load in cold if load.name == "pages")
    heaviest, most = _worst(cold)
    yield Figure("first load, all of it: heaviest page", heaviest.kb, COLD_KB, "KB", heaviest.said)
    yield Figure("first load, requests: most", most.requests, COLD_REQUESTS, "", most.said)
    yield Figure("first load of the list of pages", listed.kb, COLD_KB, "KB", listed.said)
    heaviest, most = _worst(second)
    yield Figure("second page: heaviest", heaviest.kb, SECOND_KB, "KB", heaviest.said)
    yield Figure("second page, requests: most", most.requests, SECOND_REQUESTS, "", most.said)


def _worst(loads: list[Load]) -> tuple[Load, Load]:
    return max(loads, key=lambda load: load.kb), max(loads, key=lambda load: load.requests)


def _cold(chromium: Browser, served: Served, name: str, address: str) -> Load:
    context = _logged_in(chromium, served)
    load = _load(context, served.server.url + address, name)
    context.close()
    return load


def _second(chromium: Browser, served: Served, name: str, first: str, address: str) -> Load:
    context = _logged_in(chromium, served)
    _load(context, served.server.url + first, name)
    load = _load(context, served.server.url + address, name)
    context.close()
    return load


def cookies_of(served: Served) -> list[Any]:
    """Return the cookies by which a browser is logged in, as Playwright takes them."""
    return [
        {"name": cookie.name, "value": cookie.value or "", "url": served.server.url}
        for cookie in served.browser.cookies.jar
    ]


def _logged_in(chromium: Browser, served: Served) -> BrowserContext:
    context = chromium.new_context()
    context.add_cookies(cookies_of(served))
    return context


def _load(context: BrowserContext, url: str, name: str) -> Load:
    """Open a page in a tab of its own and count what came; a file of the cache is no request."""
    load, page, document = Load(name), context.new_page(), {"id": ""}
    cached: set[str] = set()
    wire = context.new_cdp_session(page)

    def asked(event: Any) -> None:
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

    wire.on("Network.requestWillBeSent", asked)
    wire.on("Network.requestServedFromCache", lambda event: cached.add(event["requestId"]))
    wire.on("Network.responseReceived", answered)
    wire.on("Network.loadingFinished", came)
    wire.send("Network.enable")
    page.goto(url, wait_until="networkidle")
    page.close()
    return load
