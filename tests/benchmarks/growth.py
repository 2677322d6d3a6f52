"""How the cost of lists, the palette and a crawl grows with the ledger."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from tests.benchmarks.bench import Bench, crawl
from tests.benchmarks.figures import Figure
from tests.benchmarks.measuring import Side, Site
from tests.benchmarks.service import PagedService
from tests.support.dashboards import over_http

GROWTH, PAGES_A_SECOND, CRAWL_MB = 2.0, 20, 30
SLOW_S, SLOW_RATE, SLOW_PAGES, SLOW_MINUTES = 0.2, 20, 10_000, 10
ADDRESSES = {
    "pages, as the service lists them": "/pages/",
    "searched by a word": "/pages/?q=fleet",
    "one status": "/pages/?status=draft",
    "sorted by name": "/pages/?sort=name",
    "changed since publish": "/pages/?flag=changed",
    "word, status, type, flag": "/pages/?q=fleet&status=draft&type=inbound&flag=not-live",
    "audiences, as listed": "/audiences/",
    "audiences: searched": "/audiences/?q=fleet",
    "audiences: unpublished changes": "/audiences/?live=changed",
    "audiences: latest canceled": "/audiences/?live=canceled",
    "find, for the palette": "/find/?q=fleet",
    "overview": "/",
}


def figures(bench: Bench) -> Iterator[Figure]:
    """Measure a crawl and each list at three sizes, the last a hundred times the first."""
    sites, pages = {}, [50, 200, 1_000] if bench.quick else [50, 500, 5_000]
    crawls = []
    for count in pages:
        dashboard, _ = bench.filled(f"growth-{count}", count, count * 10, 0)
        crawls.append(crawl(dashboard))
        sites[f"{count * 10:,} audiences"] = bench.serve(dashboard)
    last, growth_mb = crawls[-1], crawls[-1].memory_mb - crawls[0].memory_mb
    rate, what, goal = pages[-1] / last.seconds, f"crawl of {pages[-1]:,} pages", PAGES_A_SECOND
    beside = f"{last.memory_mb:.0f} MB, {last.page_faults:,} page faults"
    yield Figure(f"{what}: pages a second", rate, goal, "", beside, more_is_better=True)
    yield Figure(f"{what}: more memory than for {pages[0]}", growth_mb, CRAWL_MB, "MB")
    yield from _of_lists(bench, sites)


def slow_crawl(bench: Bench) -> Iterator[Figure]:
    """Crawl a service that takes 200 ms for each response, at 20 calls a second."""
    pages = SLOW_PAGES // 25 if bench.quick else SLOW_PAGES
    url = bench.stack.enter_context(over_http(PagedService(pages, SLOW_S)))
    dashboard = bench.new_dashboard("slow", url)
    took = crawl(dashboard, rate=SLOW_RATE)
    what = f"crawl of {pages:,} pages, {1000 * SLOW_S:.0f} ms a call, {SLOW_RATE} a second"
    goal = SLOW_MINUTES * pages / SLOW_PAGES
    with closing(sqlite3.connect(dashboard.database)) as ledger:
        [(reached,)] = ledger.execute("SELECT speed FROM ledger_crawl")
    yield Figure(what, took.seconds / 60, goal, "min", f"{took.memory_mb:.0f} MB. {reached}")


def _of_lists(bench: Bench, sites: dict[str, Site]) -> Iterator[Figure]:
    for name, address in ADDRESSES.items():
        sides = [Side(size, site, address) for size, site in sites.items()]
        bench.take_turns(*sides)
        costs_ms = [side.cost_ms for side in sides]
        beside = "; ".join(map(str, sides))
        yield Figure(f"growth: {name}", max(costs_ms) / min(costs_ms), GROWTH, "×", beside)
