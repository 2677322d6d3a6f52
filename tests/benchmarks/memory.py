"""The memory of a worker after many requests, and after many large pages."""

from collections.abc import Iterator

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.measuring import Site, usage
from tests.benchmarks.service import HEAVY_KB, Service
from tests.support.dashboards import over_http

MIXED_MB, LARGE_MB = 160, 350
LARGE_PAGES = 120
MIXED = [
    *("/", "/pages/", "/pages/?q=fleet&sort=name", "/pages/page_0/", "/people/", "/people/?q=an"),
    *("/pages/page_0/audiences/aud_0/", "/pages/page_0/audiences/aud_0/versions/"),
    *("/find/?q=fleet", "/webhooks/", "/activity/"),
]


def figures(bench: Bench) -> Iterator[Figure]:
    """Measure one worker with requests of all kinds, and another with large pages, once each."""
    requests = 1_000 if bench.quick else 10_000
    mixed = MIXED * (requests // len(MIXED) + 1)
    what = f"memory of a worker after {requests:,} requests"
    yield _figure(what, bench.serve(bench.embedded), mixed[:requests], MIXED_MB)
    url = bench.stack.enter_context(over_http(Service()))
    site = bench.serve(bench.new_dashboard("large", url))
    large = [f"/pages/heavy-{number}/" for number in range(LARGE_PAGES)]
    what = f"memory of a worker after a look at each of {LARGE_PAGES} pages of {HEAVY_KB} KB"
    yield _figure(what, site, large, LARGE_MB)


def _figure(what: str, site: Site, addresses: list[str], goal_mb: float) -> Figure:
    """Request each address, and record the worker's memory after each quarter."""
    held_mb, before = [], usage(site.server).page_faults
    for number, address in enumerate(addresses, start=1):
        site.client.get(address).raise_for_status()
        if number % (len(addresses) // 4) == 0:
            held_mb.append(usage(site.server).memory_mb)
    faults = (usage(site.server).page_faults - before) / len(addresses)
    quarters = ", ".join(f"{mb:.0f}" for mb in held_mb)
    beside = f"{quarters} MB after each quarter; {faults:.0f} page faults a request"
    return Figure(what, max(held_mb), goal_mb, "MB", beside)
