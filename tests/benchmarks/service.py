"""A service over HTTP that responds at once or after a delay."""

import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support import wire

HEAVY_KB = 900
ROWS = range(50)


@dataclass
class Service:
    """Responds with 50 rows or a page; a page whose id starts with `heavy` has 900 KB of text."""

    delay_s: float = 0.0
    calls: list[str] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request.url.path)
        time.sleep(self.delay_s)
        return httpx.Response(200, json=_body(request.url.path.rstrip("/").rpartition("/")[2]))


@dataclass
class PagedService:
    """A service with many pages of one audience each, which delays each response."""

    pages: int
    delay_s: float

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Respond with a part of the list of pages, or the audiences of a page."""
        time.sleep(self.delay_s)
        *_, before_last, last = request.url.path.split("/")
        if last == "audiences":
            audience = wire.audience(audienceId=f"aud_of_{before_last}", pageId=before_last)
            return httpx.Response(200, json=wire.envelope(audience))
        first = int(request.url.params.get("cursor", "0"))
        end = min(self.pages, first + int(request.url.params.get("limit", "50")))
        pages = [wire.page(pageId=f"page_{number}") for number in range(first, end)]
        rest = {"hasMore": True, "nextCursor": str(end)} if end < self.pages else {}
        return httpx.Response(200, json=wire.envelope(*pages, totalCount=self.pages, **rest))


def _body(path: str) -> dict[str, Any]:
    match path:
        case "pages":
            return wire.envelope(*(_page(f"page_{number}") for number in ROWS))
        case "audiences":
            return wire.envelope(*(wire.audience(audienceId=f"aud_{number}") for number in ROWS))
        case "persons":
            return wire.envelope(*(wire.person(personId=f"person_{number}") for number in ROWS))
        case "messages":
            return wire.conversation()
    return _page(path)


def _page(page_id: str) -> dict[str, Any]:
    paragraph = f"What {page_id} says to carriers, shippers and those who wait. " * 8 + "\n\n"
    size = HEAVY_KB * 1000 if page_id.startswith("heavy") else 2_500
    return wire.page(pageId=page_id, pageContext=(paragraph * (size // 400))[:size])
