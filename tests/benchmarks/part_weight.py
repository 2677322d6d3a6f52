"""What a browser loads: with an empty cache, and for the page after the first."""

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row, Unmeasured
from tests.benchmarks.part_lists import LISTS, NAMES
from tests.benchmarks.sides import Served
from tests.browser.addresses import addresses
from tests.browser.conftest import CHROMIUM
from tests.browser.weight import (
    COLD_KB,
    COLD_REQUESTS,
    SECOND_KB,
    SECOND_REQUESTS,
    Load,
    load,
)

FIRST = "overview"


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
    loaded = load(context, served.server.url + address, name)
    context.close()
    return loaded


def _second(chromium: Browser, served: Served, name: str, first: str, address: str) -> Load:
    context = _logged_in(chromium, served)
    load(context, served.server.url + first, name)
    loaded = load(context, served.server.url + address, name)
    context.close()
    return loaded


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
