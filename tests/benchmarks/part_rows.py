"""What a row costs: 100 rows against 25, and the queries and address look-ups of a list."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from tests.benchmarks.bench import Bench, in_a_fresh_process
from tests.benchmarks.figures import Figure, Row
from tests.benchmarks.outside_service import OutsideService
from tests.benchmarks.sides import Side, take_turns

FEW, MANY = 25, 100
OF_FEW, QUERIES = 2.5, 6
LISTS = {
    "pages": "/pages/?cursor=rows-{0}",
    "people": "/people/?cursor=rows-{0}",
    "audiences": "/pages/rows-{0}/?show=100",
}


def figures(bench: Bench) -> Iterator[Row]:
    """Measure the lists of a service that gives as many rows as it is asked for."""
    served = bench.outside
    bench.service.delay_s = 0.0
    for name, address in LISTS.items():
        few, many = (Side(f"{n} rows", served, address.format(n)) for n in (FEW, MANY))
        take_turns([few, many], rounds=bench.rounds, requests=bench.requests)
        what = f"{name}, {MANY} rows: processor time of {FEW}"
        yield Figure(what, many.cost_ms / few.cost_ms, OF_FEW, "×", f"{many.said}; {few.said}")
    counts = in_a_fresh_process(count_in_process, bench.database_url("counting"))
    for name, by_rows in counts.items():
        yield from _figures_of(name, by_rows)


def _figures_of(name: str, by_rows: dict[int, Counter[str]]) -> Iterator[Row]:
    few, fifty, many = (by_rows[rows] for rows in (FEW, 50, MANY))
    tables = ", ".join(f"{count} {to}" for to, count in sorted(fifty.items()) if " " in to)
    yield Figure(f"{name}, 50 rows: queries", fifty["queries"], QUERIES, "", tables)
    for counted in ("queries", "look-ups"):
        a_row = (many[counted] - few[counted]) / (MANY - FEW)
        beside = f"{many[counted]} for {MANY} rows, {few[counted]} for {FEW}"
        yield Figure(f"{name}: {counted} a row", a_row, 0, "", beside)


def count_in_process(database_url: str) -> dict[str, dict[int, Counter[str]]]:
    """Return what each list of each length asks of database and addresses, seen before.

    The service's own queries are not among them: it is another one here.
    """
    from tests.benchmarks.lists import someone_logged_in, start_with_an_empty_database

    start_with_an_empty_database(database_url)
    from django.conf import settings

    from tests.support.fake_service import FakeServiceTransport

    settings.SERVICE_TRANSPORT = "tests.support.fake_service.FakeServiceTransport"
    FakeServiceTransport.service.answer = OutsideService()
    browser = someone_logged_in()
    sizes = (FEW, 50, MANY)
    return {
        name: {rows: _counted(browser, address.format(rows)) for rows in sizes}
        for name, address in LISTS.items()
    }


def _counted(browser: Any, address: str) -> Counter[str]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from django.urls import URLResolver

    looked_up = URLResolver._reverse_with_prefix
    found: Counter[str] = Counter()

    def noted(resolver: URLResolver, *args: Any, **kwargs: Any) -> str:
        found["look-ups"] += 1
        return looked_up(resolver, *args, **kwargs)

    for _ in range(2):
        assert browser.get(address).status_code == 200
    with (
        patch.object(URLResolver, "_reverse_with_prefix", noted),
        CaptureQueriesContext(connection) as asked,
    ):
        browser.get(address)
    found["queries"] = len(asked)
    found.update(f"to {_table(query['sql'])}" for query in asked)
    return found


def _table(sql: str) -> str:
    """Return the table that a statement is about, or its first word."""
    found = re.search(r'(?:FROM|INTO|UPDATE) "(\w+)"', sql)
    return found[1] if found else sql.split(maxsplit=1)[0]
