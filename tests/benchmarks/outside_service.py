"""A service over HTTP that answers at once or after a while, with as many rows as are asked for.

A cursor or a page's id such as `rows-100` says how many: the service's own way to give more rows
than were asked for, since it promises no number of them.
"""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx

from tests import wire
from tests.benchmarks.lists import wire_audience, wire_page


class OutsideService:
    """Answers what lists and the page of a publish ask for. Set `delay_s` to slow it down."""

    def __init__(self) -> None:
        """Begin quick, with nothing asked."""
        self.delay_s = 0.0
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer."""
        self.asked.append(request.url.path)
        time.sleep(self.delay_s)
        return httpx.Response(200, content=json.dumps(self._body(request.url)).encode())

    @staticmethod
    def _body(url: httpx.URL) -> dict[str, Any]:
        asked = re.search(r"rows-(\d+)", str(url))
        rows = int(asked[1]) if asked else 50
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "pages": lambda: wire.envelope(*map(wire_page, range(rows))),
            "persons": lambda: wire.envelope(*map(_person, range(rows))),
            "audiences": lambda: wire.envelope(*map(wire_audience, range(rows))),
            "messages": wire.conversation,
        }
        last = url.path.rstrip("/").rpartition("/")[2]
        answer = answers.get(last, lambda: wire.page(pageId=last, audiencesCount=rows))
        return answer()


def _person(number: int) -> dict[str, Any]:
    return wire.person(
        personId=f"prospect_{number}",
        name=f"Ada Lovelace {number}",
        email=f"ada{number}@analytical.example",
        slug=f"ada-lovelace-{number}",
    )
