"""A list of 50 rows: what it costs, beside the same rows in the peers' lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row, Unmeasured
from tests.benchmarks.sides import Served, Side, take_turns
from tests.benchmarks.world import LISTED

OF_PAGE, OTHER_ROWS_OF_ADMIN = 0.6, 1.0
NAMES = {"admin": "Django's admin", "unfold": "django-unfold", "wagtail": "Wagtail"}
GOALS = {
    "pages": {"admin": 0.5, "wagtail": 0.25},
    "people": {"admin": 0.5, "wagtail": 0.25},
    "audiences": {"admin": 0.9, "wagtail": 0.25},
}
"""The processor time of a list, as a share of a peer's."""
EXPLORER = "/admin/pages/2/"
"""Wagtail's own list of its own pages, below the one it is installed with."""


@dataclass(frozen=True)
class List:
    """A list of ours, the part of it that htmx asks for, and the peers' model of the same rows."""

    name: str
    address: str
    target: str
    model: str

    def peer_address(self, peer: str) -> str:
        """Return where a peer lists the same rows."""
        kind = "snippets/" if peer == "wagtail" else ""
        return f"/admin/{kind}peers/{self.model}/"


LISTS = (
    List("pages", "/pages/", "results", "page"),
    List("people", "/people/", "results", "person"),
    List("audiences", f"/pages/{LISTED}/", "audience-results", "audience"),
)


def figures(bench: Bench) -> Iterator[Row]:
    """Measure each list with its peers."""
    for name, peer in bench.peers.items():
        if isinstance(peer, Unmeasured):
            yield Unmeasured(f"lists of {NAMES[name]}", peer.why)
    for each in LISTS:
        yield from _figures_of(each, bench)


def _figures_of(each: List, bench: Bench) -> Iterator[Row]:
    whole = Side("ours", bench.ours, each.address)
    part = Side("the part", bench.ours, each.address, as_htmx(each.target))
    peers = {
        name: Side(NAMES[name], peer, each.peer_address(name))
        for name, peer in bench.peers.items()
        if isinstance(peer, Served)
    }
    more, walks = {}, []
    if each.name == "pages":
        # Much of a list that was looked at before is there already: this is what nobody looked at.
        parts = parts_of(bench.ours, each.address)
        walks.append(Side("another part each time", bench.ours, each.address, others=parts))
        if "wagtail" in peers:
            more["wagtail"] = Side("its page explorer", peers["wagtail"].served, EXPLORER)
    sides = [whole, part, *walks, *peers.values(), *more.values()]
    take_turns(sides, rounds=bench.rounds, requests=bench.requests)
    for name, peer in peers.items():
        ratio = whole.cost_ms / peer.cost_ms
        beside = "; ".join(side.said for side in (whole, peer, more.get(name)) if side)
        what = f"{each.name}, 50 rows: processor time of that of {NAMES[name]}"
        yield Figure(what, ratio, GOALS[each.name].get(name), "×", beside)
    for walk in walks:
        for name in ("admin",) if "admin" in peers else ():
            what = f"{each.name}, other 50 rows each time: of {NAMES[name]}"
            ratio = walk.cost_ms / peers[name].cost_ms
            yield Figure(what, ratio, OTHER_ROWS_OF_ADMIN, "×", walk.said)
    what = f"{each.name}, the part for htmx: of the whole page"
    yield Figure(what, part.cost_ms / whole.cost_ms, OF_PAGE, "×", f"{part.said}; {whole.said}")


def as_htmx(target: str) -> dict[str, str]:
    """Return the headers by which htmx asks for a part of a page."""
    return {"HX-Request": "true", "HX-Target": target}


def parts_of(served: Served, address: str) -> Iterator[str]:
    """Return where each part of a list is, all of which the service and the ledger know."""
    parts = []
    while found := re.search(r'id="load-more" href="([^"]+)"', served.browser.get(address).text):
        parts.append(urljoin(address, unescape(found[1])))
        address = parts[-1]
    return iter(parts)
