"""The sides of a comparison: asked in turns, so that a busy minute of the machine meets both."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

import httpx

from tests.benchmarks.load import processor_s
from tests.support.processes import Running

WARMING = 8
"""Requests that a side answers before it is measured."""
TURN_S = 0.5
"""How long a turn lasts at least, so that it is as long for one side as for another: the first
answers after a pause are dear, and more of a short turn."""
ACCEPTED = "gzip, deflate, br, zstd"
"""As Chromium asks for it."""


@dataclass
class Served:
    """A server, and a browser of a kind in which an operator is logged in."""

    server: Running
    browser: httpx.Client


@dataclass
class Side:
    """One address of one server, and what it took: milliseconds of each round, of each request."""

    name: str
    served: Served
    address: str
    headers: dict[str, str] = field(default_factory=dict)
    others: Iterator[str] | None = None
    """Addresses to ask for first, each once."""
    costs_ms: list[float] = field(default_factory=list)
    waits_ms: list[float] = field(default_factory=list)

    @property
    def cost_ms(self) -> float:
        """Processor time of a request, all of the server's processes together: the median turn."""
        return median(self.costs_ms)

    @property
    def wait_ms(self) -> float:
        """How long a request took, the median."""
        return median(self.waits_ms)

    @property
    def said(self) -> str:
        """Both, and the cost of the cheapest turn, for a person.

        What else the host does makes a turn dearer, by more than half at times, and never cheaper.
        """
        more = f"cheapest turn {min(self.costs_ms):.1f} ms; answered in {self.wait_ms:.0f} ms"
        return f"{self.name} {self.cost_ms:.1f} ms ({more})"

    def ask(self) -> httpx.Response:
        """Ask once. Raises AssertionError where the answer is not the page."""
        address = next(self.others, self.address) if self.others else self.address
        answer = self.served.browser.get(address, headers=self.headers)
        assert answer.status_code == 200, (self.name, address, answer.status_code)
        return answer

    def measure(self, requests: int) -> None:
        """Ask so many times, or for as long as a turn lasts, and note what it took.

        A side that is to be asked for other addresses is asked for so many.
        """
        turn_s = 0.0 if self.others else TURN_S
        before, start, asked = processor_s(self.served.server), time.perf_counter(), 0
        while asked < requests or time.perf_counter() - start < turn_s:
            begun = time.perf_counter()
            self.ask()
            self.waits_ms.append((time.perf_counter() - begun) * 1000)
            asked += 1
        self.costs_ms.append((processor_s(self.served.server) - before) * 1000 / asked)


def take_turns(sides: list[Side], *, rounds: int, requests: int) -> None:
    """Measure each side in each round."""
    for side in sides:
        for _ in range(WARMING):
            side.ask()
    for _ in range(rounds):
        for side in sides:
            side.measure(requests)


def log_in(url: str, address: str, **credentials: str) -> httpx.Client:
    """Return a browser of a kind, logged in by the form at an address."""
    headers = {"Referer": f"{url}/", "Accept-Encoding": ACCEPTED}
    browser = httpx.Client(base_url=url, headers=headers, timeout=120)
    page = browser.get(address, follow_redirects=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token, page.text
    answer = browser.post(address, data={**credentials, "csrfmiddlewaretoken": token[1]})
    assert answer.status_code == 302, answer.text
    return browser
