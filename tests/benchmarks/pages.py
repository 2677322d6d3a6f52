"""Single pages: the overview, one that needs three responses, and what a browser loads."""

from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.measuring import Side, Site
from tests.benchmarks.service import Service
from tests.browser.addresses import addresses
from tests.browser.conftest import CHROMIUM
from tests.browser.weight import COLD_KB, COLD_REQUESTS, SECOND_KB, SECOND_REQUESTS, Load, load
from tests.support.dashboards import over_http
from tests.support.processes import demo

OF_PAGES = 1.33
DELAY_MS, OF_SLOWEST, OF_ONE_ANSWER = 100, 1.35, 1.5
VERSIONS = "/pages/page_1/audiences/aud_0/versions/"
NO_PAGES = ("no such page", "page never seen")


def three_answers(bench: Bench) -> Iterator[Figure]:
    """Measure a page that makes three requests to the service, beside one that makes one."""
    service = Service(delay_s=DELAY_MS / 1000)
    url = bench.stack.enter_context(over_http(service))
    site = bench.serve(bench.new_dashboard("waiting", url))
    three = Side("three answers", site, f"{VERSIONS}ver_2/publish/")
    three.get()
    assert len(service.calls) == 3, service.calls
    item = Side("one", site, VERSIONS)
    bench.take_turns(three, item)
    what, beside = f"page of three answers, {DELAY_MS} ms each", f"{three}; {item}"
    wait, cost = median(three.waits_ms) / DELAY_MS, three.cost_ms / item.cost_ms
    yield Figure(f"{what}: median of the slowest answer", wait, OF_SLOWEST, "×", beside)
    yield Figure(f"{what}: processor time of one answer's", cost, OF_ONE_ANSWER, "×", beside)


def overview(bench: Bench) -> Iterator[Figure]:
    """Measure the overview beside the list of pages, on the demo's data."""
    site = bench.log_in(bench.stack.enter_context(demo(bench.new_folder("first"))), name="demo")
    ours, pages = Side("overview", site, "/"), Side("pages", site, "/pages/")
    bench.take_turns(ours, pages)
    cost = ours.cost_ms / pages.cost_ms
    yield Figure(
        "overview: processor time of that of pages", cost, OF_PAGES, "×", f"{ours}; {pages}"
    )


def weight(bench: Bench) -> Iterator[Figure]:
    """Load each page of the demo: with an empty cache, and after the overview."""
    if not CHROMIUM.exists():
        yield Figure("weight of a page", None, beside=f"there is no {CHROMIUM}")
        return
    server = bench.stack.enter_context(demo(bench.new_folder("demo")))
    site = bench.log_in(server, name="demo")
    pages = {name: at for name, at in addresses(server).items() if name not in NO_PAGES}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cold = [_loads(browser, site, {name: at})[0] for name, at in pages.items()]
        first = {"overview": pages.pop("overview")}
        second = [_loads(browser, site, first | {name: at})[1] for name, at in pages.items()]
        browser.close()
    yield from _heaviest("first load", cold, COLD_KB, COLD_REQUESTS)
    yield from _heaviest("second page", second, SECOND_KB, SECOND_REQUESTS)


def _heaviest(what: str, loads: list[Load], most_kb: int, most_requests: int) -> Iterator[Figure]:
    heaviest = max(loads, key=lambda load: load.kb)
    yield Figure(f"{what}: heaviest", heaviest.kb, most_kb, "KB", heaviest.summary)
    busiest = max(loads, key=lambda load: load.requests)
    yield Figure(f"{what}: most requests", busiest.requests, most_requests, "", busiest.summary)


def _loads(browser: Browser, site: Site, pages: dict[str, str]) -> list[Load]:
    """Open pages one after the other in a browser with an empty cache."""
    context = browser.new_context()
    for name, value in site.client.cookies.items():
        context.add_cookies([{"name": name, "value": value, "url": site.server.url}])
    loads = [load(context, site.server.url + at, name) for name, at in pages.items()]
    context.close()
    return loads
