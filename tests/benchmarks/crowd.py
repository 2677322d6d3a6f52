"""256 people at once, with a service that takes a second to respond."""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import cycle
from math import inf
from multiprocessing import get_context
from statistics import median

import httpx

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.measuring import usage
from tests.benchmarks.service import Service
from tests.support.dashboards import over_http

PEOPLE, PAGES = 256, 512
SERVICE_S = 1.0
WITHOUT_SERVICE = ("/", "/activity/", "/webhooks/")


def figures(bench: Bench) -> Iterator[Figure]:
    """Request a list for all at once; meanwhile request pages that need no service."""
    url = bench.stack.enter_context(over_http(Service(delay_s=SERVICE_S)))
    site = bench.serve(bench.new_dashboard("crowd", url), processes=2, threads=192)
    own_s, addresses, before = [], cycle(WITHOUT_SERVICE), usage(site.server)
    # In the same process, each of our requests would wait for the other 256.
    with ProcessPoolExecutor(1, get_context("spawn")) as elsewhere:
        crowd = elsewhere.submit(_ask, site.server.url, dict(site.client.cookies))
        while not crowd.done():
            own_s.append(_wait(site.client, next(addresses)))
            time.sleep(0.05)
        waits_s = crowd.result()
    used, pages = usage(site.server), PAGES + len(own_s)
    what, lost = f"{PEOPLE} people at once, a service of {SERVICE_S:g} s", [*waits_s, *own_s]
    yield Figure(f"{what}: lost of {pages} pages", lost.count(inf), 0)
    cost_ms = (used.processor_ms - before.processor_ms) / pages
    faults = (used.page_faults - before.page_faults) / pages
    beside = f"each {cost_ms:.0f} ms, {faults:.0f} page faults; {used.memory_mb:.0f} MB"
    yield Figure(f"{what}: median wait", median(waits_s), None, "s", beside)
    yield Figure(f"{what}: pages without it", median(own_s) * 1000, None, "ms", f"{len(own_s)}")


def _ask(url: str, cookies: dict[str, str]) -> list[float]:
    # No expiry: httpcore may close a connection at the moment another thread takes it.
    limits = httpx.Limits(max_connections=PEOPLE, keepalive_expiry=None)
    with (
        httpx.Client(base_url=url, cookies=cookies, timeout=120, limits=limits) as client,
        ThreadPoolExecutor(PEOPLE) as people,
    ):
        return list(people.map(lambda _: _wait(client, "/people/"), range(PAGES)))


def _wait(client: httpx.Client, address: str) -> float:
    """Return how long a page took, in seconds, or infinity if it was lost."""
    begun = time.perf_counter()
    try:
        client.get(address).raise_for_status()
    except httpx.HTTPError:
        return inf
    return time.perf_counter() - begun
