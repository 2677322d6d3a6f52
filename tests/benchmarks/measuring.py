"""What a request costs a server. Sides take turns, so that other load affects all of them.

Processor time, page faults and memory cover all processes of the server.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx

from tests.support.processes import Running

TURN_S = 0.5
"""Minimum length of a turn: the first responses after a pause cost more."""


@dataclass
class Site:
    """A server, and an HTTP client with an operator's session."""

    server: Running
    client: httpx.Client


@dataclass(frozen=True)
class Usage:
    """What a server's processes have used so far; memory is the largest process's."""

    processor_ms: float
    page_faults: int
    memory_mb: float


def usage(server: Running) -> Usage:
    """Return what a server and its workers have used.

    Times are from `schedstat`, because `stat` counts in steps of 10 ms.
    """
    nanoseconds, page_faults, memory_pages = 0, 0, 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It may have ended meanwhile.
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == server.process.pid:
                threads = stat.parent.glob("task/*/schedstat")
                nanoseconds += sum(int(thread.read_text().split()[0]) for thread in threads)
                page_faults += int(fields[7]) + int(fields[9])
                memory_pages = max(memory_pages, int(fields[21]))
    memory_mb = memory_pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return Usage(nanoseconds / 1e6, page_faults, memory_mb)


@dataclass
class Side:
    """An address of a site, and its cost per request in each turn."""

    name: str
    site: Site
    address: str
    headers: dict[str, str] = field(default_factory=dict)
    others: Iterator[str] | None = None
    """Addresses to request instead, each once."""
    costs_ms: list[float] = field(default_factory=list)
    page_faults: list[float] = field(default_factory=list)
    waits_ms: list[float] = field(default_factory=list)

    @property
    def cost_ms(self) -> float:
        """Processor time of a request in the median turn."""
        return median(self.costs_ms)

    def __str__(self) -> str:
        """Describe the figures. The cheapest turn is named because other load only adds cost."""
        wait_ms, memory_mb = median(self.waits_ms), usage(self.site.server).memory_mb
        return (
            f"{self.name} {self.cost_ms:.1f} ms (cheapest turn {min(self.costs_ms):.1f}; answered"
            f" in {wait_ms:.0f}; {median(self.page_faults):.0f} page faults; {memory_mb:.0f} MB)"
        )

    def get(self) -> float:
        """Return how long a request took, in ms. Raises HTTPStatusError unless it is a page."""
        address = next(self.others) if self.others else self.address
        begun = time.perf_counter()
        self.site.client.get(address, headers=self.headers).raise_for_status()
        return (time.perf_counter() - begun) * 1000

    def take_a_turn(self, requests: int) -> None:
        """Send so many requests, and more until TURN_S is over if the address may be repeated."""
        before, begun, waits_ms = usage(self.site.server), time.perf_counter(), list[float]()
        end = begun if self.others else begun + TURN_S
        while len(waits_ms) < requests or time.perf_counter() < end:
            waits_ms.append(self.get())
        after = usage(self.site.server)
        self.costs_ms.append((after.processor_ms - before.processor_ms) / len(waits_ms))
        self.page_faults.append((after.page_faults - before.page_faults) / len(waits_ms))
        self.waits_ms += waits_ms
