"""How lists and the crawl cost as the ledger grows: `uv run python -m tests.benchmarks.lists`.

Fills a database of its own with pages and audiences, crawls them through the embedded API, and
asks for lists as a person does. Prints each figure beside its goal.
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

CRAWLED_PAGES, CRAWLED_AUDIENCES = 1_200, 10_000
GROWN_PAGES, GROWN_AUDIENCES = 5_000, 50_000
FILTERED_TIMES, GROWTH_TIMES, PAGES_A_SECOND, GROWTH_MIB = 2.0, 2.0, 20.0, 30
ROUNDS, LOOKS = 15, 3

_browser: Any = None
"""Of a process that was started for one size."""


@dataclass
class Size:
    """How many pages and audiences the service and the ledger have."""

    pages: int
    audiences: int


SIZES = (Size(50, 500), Size(500, 5_000), Size(GROWN_PAGES, GROWN_AUDIENCES))
ADDRESSES = {
    "pages, as the service lists them": "/pages/",
    "searched by a word": "/pages/?q=page+1",
    "one status": "/pages/?status=draft",
    "sorted by name": "/pages/?sort=name",
    "changed since publish": "/pages/?flag=changed",
    "word, status, type, flag": "/pages/?q=page&status=draft&type=inbound&flag=not-live",
    "find, for the palette": "/find/?q=audience+1",
    "overview": "/",
}
CONTEXT = "What the page is about, at the length that such texts have. " * 40


def main() -> None:
    """Fill, crawl, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--databases",
        nargs=len(SIZES),
        metavar="URL",
        help="empty ones, one for each size; SQLite where none are given",
    )
    asked = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="pressroom-bench-") as folder:
        made = [f"sqlite:///{folder}/{size.audiences}.sqlite3" for size in SIZES]
        console.print(growth_table(growth_times(asked.databases or made, asked.rounds)))
        start_with_an_empty_database(f"sqlite:///{folder}/crawled.sqlite3")
        console.print(crawl_table(*crawled(Size(CRAWLED_PAGES, CRAWLED_AUDIENCES))))


def growth_times(database_urls: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Return the processor time of each list at each of SIZES, in milliseconds.

    Each size has a database and a process of its own, and they are asked in turns: a busy minute
    of the machine meets all of them.
    """
    taken: dict[str, list[list[float]]] = {name: [[] for _ in SIZES] for name in ADDRESSES}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                ProcessPoolExecutor(1, get_context("spawn"), _has_size, (database_url, size))
            )
            for database_url, size in zip(database_urls, SIZES, strict=True)
        ]
        for _ in range(rounds):
            for name, address in ADDRESSES.items():
                for times, process in zip(taken[name], processes, strict=True):
                    times.append(process.submit(_look_at, address).result())
    return {name: [median(times) for times in of_sizes] for name, of_sizes in taken.items()}


def _has_size(database_url: str, size: Size) -> None:
    """Let this process have a service and a ledger of that size, and somebody who looks at them."""
    global _browser  # noqa: PLW0603  # what a process is started with stays there
    start_with_an_empty_database(database_url)
    fill(size)
    _browser = someone_logged_in()
    for address in ADDRESSES.values():
        get(_browser, address)


def _look_at(address: str) -> float:
    """Return the processor time of one look, in milliseconds: the median of three."""
    return processor_ms(partial(get, _browser, address), LOOKS)


def growth_table(times: dict[str, list[float]]) -> Table:
    """Return the processor time of each list at each size, and what it is held against."""
    # Without what a server of a database takes for itself.
    table = Table(title="Processor time of a list, ms, by audiences in the ledger")
    for heading in ("list", *(f"{size.audiences:,}" for size in SIZES), "growth", "unfiltered"):
        table.add_column(heading, justify="left" if heading == "list" else "right")
    plain = times["pages, as the service lists them"][-1]
    for name, taken in times.items():
        growth, against = taken[-1] / taken[0], taken[-1] / plain
        is_filtered = ADDRESSES[name].startswith("/pages/?")
        table.add_row(
            name,
            *(f"{ms:.1f}" for ms in taken),
            f"{growth:.2f} {_judge(growth <= GROWTH_TIMES)} ≤ {GROWTH_TIMES:g}",
            f"{against:.2f} {_judge(against <= FILTERED_TIMES)} ≤ {FILTERED_TIMES:g}"
            if is_filtered
            else "",
        )
    return table


def crawl_table(pages_a_second: float, growth_mib: float) -> Table:
    """Return the crawl's figures and goals."""
    table = Table("crawl", "figure", "goal", title=f"A crawl of {CRAWLED_PAGES:,} pages")
    is_fast, is_flat = pages_a_second >= PAGES_A_SECOND, growth_mib <= GROWTH_MIB
    table.add_row("pages a second", f"{pages_a_second:.0f}", f"{_judge(is_fast)} ≥ 20")
    table.add_row(
        "memory, second half", f"+{growth_mib:.1f} MiB", f"{_judge(is_flat)} ≤ {GROWTH_MIB} MiB"
    )
    return table


def crawled(size: Size) -> tuple[float, float]:
    """Crawl it all; return pages a second, and what the second half added to memory, in MiB."""
    from dashboard.service.crawling import Crawl, RateLimiter, crawl

    fill(size)
    peaks: list[float] = []

    def note(done: Crawl) -> None:
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    begun = time.perf_counter()
    done = crawl(RateLimiter(1_000_000), on_page=note)
    assert done.pages == size.pages, done.problems
    return done.pages / (time.perf_counter() - begun), peaks[-1] - peaks[len(peaks) // 2]


def fill(size: Size) -> None:
    """Put so many pages and audiences into the service and into an empty ledger."""
    from django.db import transaction

    from dashboard.contract.audiences import Audience as WireAudience
    from dashboard.contract.envelope import ListEnvelope
    from dashboard.contract.pages import PageItem
    from dashboard.embedded_api.models import Page
    from dashboard.ledger import recording
    from dashboard.ledger.models import AudienceRecord, ListTotal, PageRecord, VersionRecord
    from tests.support import wire

    for seen in (AudienceRecord, PageRecord, VersionRecord, ListTotal):
        seen.objects.all().delete()
    Page.objects.all().delete()
    with transaction.atomic():
        _fill_service(size)
        for start in range(0, size.pages, 200):
            numbers = range(start, min(start + 200, size.pages))
            items = [wire_page(number) for number in numbers]
            envelope = wire.envelope(*items, totalCount=size.pages)
            recording.record_pages(ListEnvelope[PageItem].model_validate(envelope))
        for page, numbers in audiences_by_page(size):
            found = [WireAudience.model_validate(wire_audience(number)) for number in numbers]
            recording.record_audiences(f"page_{page}", found)


def audiences_by_page(size: Size) -> Iterator[tuple[int, range]]:
    """Yield each page's number with those of its audiences."""
    for page in range(size.pages):
        yield page, range(page, size.audiences, size.pages)


def wire_page(number: int) -> dict[str, Any]:
    """Return a page as the service sends it."""
    from tests.support import wire

    return wire.page(
        pageId=f"page_{number}",
        name=f"Page {number}",
        pageContext=CONTEXT,
        status=("draft", "published", "archived")[number % 3],
        pageType=("inbound", "outbound")[number % 2],
    )


def wire_audience(number: int) -> dict[str, Any]:
    """Return an audience as the service sends it."""
    from tests.support import wire

    live = wire.live_version() if number % 3 else None
    latest = live if live and number % 2 else wire.version()
    return wire.audience(
        audienceId=f"aud_{number}",
        effectiveName=f"Audience {number}",
        publishedVersion=live,
        latestVersion=latest,
    )


def _fill_service(size: Size) -> None:
    from dashboard.embedded_api.keys import default_tenant
    from dashboard.embedded_api.models import Audience, Page

    tenant = default_tenant()
    Page.objects.bulk_create(
        Page(
            id=f"page_{number}",
            tenant=tenant,
            name=f"Page {number}",
            title="A page",
            page_context=CONTEXT,
            brand_id="brand_1",
        )
        for number in range(size.pages)
    )
    Audience.objects.bulk_create(
        (
            Audience(id=f"aud_{n}", tenant=tenant, page_id=f"page_{page}", computed_name=f"A {n}")
            for page, numbers in audiences_by_page(size)
            for n in numbers
        ),
        batch_size=2_000,
    )


def someone_logged_in() -> Any:
    """Return a browser in which an operator is logged in."""
    from django.contrib.auth.models import User

    from tests.conftest import logged_in, person

    User.objects.all().delete()
    return logged_in(person("vera", "Publishers"))


def get(browser: Any, address: str) -> None:
    """Open an address."""
    answer = browser.get(address)
    assert answer.status_code == 200, answer.status_code


def processor_ms(act: Callable[[], None], rounds: int) -> float:
    """Return the median processor time of an act, in milliseconds."""
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        act()
        taken.append((time.process_time() - begun) * 1000)
    return median(taken)


def start_with_an_empty_database(database_url: str) -> None:
    """Set Django up on a database that has nothing yet; once a process."""
    os.environ |= {
        "TEST_DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    import logging

    import django

    django.setup()
    logging.disable(logging.WARNING)
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _judge(is_met: bool) -> str:
    return "[green]met[/]" if is_met else "[red]not met[/]"


if __name__ == "__main__":
    main()
