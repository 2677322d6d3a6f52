"""A service over HTTP that answers at once or after a while, with as many rows as are asked for.

A cursor or a page's id such as `rows-100` says how many: the service's own way to give more rows
than were asked for, since it promises no number of them. A page's id such as `heavy-900-7` says how
many thousand bytes the page has.
"""

import json
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

from tests.benchmarks.lists import wire_audience, wire_page
from tests.support import wire


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
        heavy = re.fullmatch(r"heavy-(\d+)-\d+", last)
        context = _words(last, int(heavy[1]) * 1000) if heavy else "For regional carriers."
        one = partial(wire.page, pageId=last, audiencesCount=rows, pageContext=context)
        return answers.get(last, one)()


def _words(said: str, size: int) -> str:
    """Return paragraphs of so many characters, other ones for each page."""
    paragraph = f"What {said} says to carriers, shippers and those who wait. " * 8
    return "\n\n".join([paragraph] * (size // (len(paragraph) + 2) + 1))[:size]


def _person(number: int) -> dict[str, Any]:
    return wire.person(
        personId=f"prospect_{number}",
        name=f"Ada Lovelace {number}",
        email=f"ada{number}@analytical.example",
        slug=f"ada-lovelace-{number}",
    )
