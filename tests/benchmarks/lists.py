"""Lists of 50 rows: their cost beside the peers' lists of the same rows, queries and calls."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from subprocess import CalledProcessError
from typing import Any
from urllib.parse import urljoin

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.fresh_process import in_fresh_process
from tests.benchmarks.measuring import Side, Site
from tests.benchmarks.service import Service
from tests.benchmarks.world import A_LIST

PEERS = {"Django's admin": ("admin",), "Wagtail": ("wagtail", "wagtail==8.0.1")}
FIRST_OF_ADMIN, OF_WAGTAIL, PART_OF_PAGE, QUERIES = 1.0, 0.25, 0.6, 6
MORE = re.compile(r'id="load-more"[^>]* href="([^"]+)"')
TABLE = re.compile(r'(?:FROM|INTO|UPDATE) "(\w+)"')


@dataclass(frozen=True)
class List:
    """A list of ours, the part that htmx requests, the peers' model, and the goals."""

    name: str
    address: str
    target: str
    model: str
    of_admin: float
    calls: int


LISTS = [
    List("pages", "/pages/", "results", "page", of_admin=0.5, calls=1),
    List("people", "/people/", "results", "person", of_admin=0.5, calls=1),
    List("audiences", "/pages/page_0/", "audience-results", "audience", of_admin=0.9, calls=2),
]


def beside_peers(bench: Bench) -> Iterator[Figure]:
    """Measure each list, its other rows and its part for htmx, beside the peers' lists."""
    peers = {}
    for name, of in PEERS.items():
        try:
            peers[name] = bench.serve_peer(*of)
        except CalledProcessError as error:
            reason = " ".join(error.stderr.decode().split())[-200:]
            yield Figure(f"lists of {name}", None, beside=reason)
    for item in LISTS:
        yield from _beside_peers(item, bench, peers)


def _beside_peers(listing: List, bench: Bench, peers: dict[str, Site]) -> Iterator[Figure]:
    ours = Side("ours", bench.ours, listing.address)
    as_htmx = {"HX-Request": "true", "HX-Target": listing.target}
    part = Side("the part", bench.ours, listing.address, as_htmx)
    first = Side("other rows", bench.ours, listing.address, others=_other_rows(listing, bench))
    theirs = {}
    for name, site in peers.items():
        kind = "snippets/" if name == "Wagtail" else ""
        theirs[name] = Side(name, site, f"/admin/{kind}peers/{listing.model}/")
    bench.take_turns(ours, part, first, *theirs.values())
    what = f"{listing.name}, {A_LIST} rows"
    goals = {"Django's admin": listing.of_admin, "Wagtail": OF_WAGTAIL}
    for name, peer in theirs.items():
        yield _ratio(f"{what}: processor time of that of {name}", ours, peer, goals[name])
    if admin := theirs.get("Django's admin"):
        yield _ratio(f"{what}, others each time: of {admin.name}", first, admin, FIRST_OF_ADMIN)
    yield _ratio(f"{what}, the part for htmx: of the whole page", part, ours, PART_OF_PAGE)


def _ratio(what: str, side: Side, of: Side, goal: float) -> Figure:
    return Figure(what, side.cost_ms / of.cost_ms, goal, "×", f"{side}; {of}")


def _other_rows(listing: List, bench: Bench) -> Iterator[str]:
    """Return addresses that each list as many rows, none of them requested before."""
    if listing.name == "audiences":
        return (f"/pages/page_{number}/" for number in range(1, bench.rows // A_LIST))
    elsewhere = bench.serve(bench.embedded)  # Its own cache.
    address, parts = listing.address, []
    while match := MORE.search(elsewhere.client.get(address).text):
        address = urljoin(address, unescape(match[1]))
        parts.append(address)
    return iter(parts)


def counts(bench: Bench) -> Iterator[Figure]:
    """Count the queries and the calls of the service that a second view of a list takes."""
    yield from in_fresh_process({"DJANGO_SETTINGS_MODULE": "tests.settings"}, _counts).result


def _counts() -> list[Figure]:
    """Return the figures. The service is a fake, so it makes no queries itself."""
    from django.conf import settings
    from django.core.management import call_command

    from tests.conftest import logged_in, person
    from tests.support.fake_service import FakeServiceTransport

    call_command("migrate", verbosity=0)
    settings.SERVICE_TRANSPORT = "tests.support.fake_service.FakeServiceTransport"
    service = FakeServiceTransport.service.answer = Service()
    vera = logged_in(person("vera", "Publishers"))
    return [figure for item in LISTS for figure in _counts_of(item, vera, service)]


def _counts_of(listing: List, client: Any, service: Service) -> Iterator[Figure]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for _ in range(2):
        assert client.get(listing.address).status_code == 200
    service.calls.clear()
    with CaptureQueriesContext(connection) as queries:
        client.get(listing.address)
    what, calls = f"{listing.name}, {A_LIST} rows", ", ".join(service.calls)
    tables = Counter(TABLE.findall(query["sql"])[0] for query in queries)
    beside = ", ".join(f"{count} to {table}" for table, count in sorted(tables.items()))
    yield Figure(f"{what}: queries", len(queries), QUERIES, "", beside)
    yield Figure(f"{what}: calls of the service", len(service.calls), listing.calls, "", calls)
