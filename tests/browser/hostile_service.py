"""A service with a hostile text in every string, and the addresses of the pages that show it."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

import httpx

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from tests.support import examples
from tests.support.hostile_strings import PAYLOADS

URLS = ["javascript:alert(1)", "java\tscript:alert(1)", "https://evil.example/beacon.png"]
"""Texts that fill a field on their own. The last may be a link, but nothing may load it."""
BREAKS_OUT = [
    '" onfocus=alert(1) autofocus x="',
    "' onmouseover='alert(1)' x='",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "</title></textarea></style><img src=//evil.example/x onerror=alert(1)>",
    "${alert(1)}{{constructor.constructor('alert(1)')()}}",
]


def short(texts: list[str]) -> list[str]:
    # A lone surrogate can't be sent in UTF-8; the fault matrix covers it.
    return [text for text in texts if len(text) < 300 and "\ud800" not in text]


ALL_MARKUP = 2
"""Number of rounds at the start that together hold every payload; the others hold one URL."""


def rounds() -> list[str]:
    """Return the text of each round: payloads together, then each URL by itself.

    Texts that open a comment or a block come last, so that they hide no other.
    """
    texts = [*BREAKS_OUT, *short(PAYLOADS)]
    hiding = [
        text for text in texts if any(mark in text for mark in ("<!--", "CDATA", "```", "~~~"))
    ]
    texts = [text for text in texts if text not in hiding]
    return ["\n".join(texts[:30]), "\n".join([*texts[30:], *hiding]), *URLS]


def strings_in(value: Any) -> int:
    """Return how many strings a JSON value holds."""
    if isinstance(value, dict):
        return sum(map(strings_in, value.values()))
    return sum(map(strings_in, value)) if isinstance(value, list) else isinstance(value, str)


def filled(value: Any, text: str) -> Any:
    """Return the JSON value with every string replaced by the text; ids get a part of it."""
    match value:
        case dict():
            return {
                name: filled(item, as_identifier(text) if name.endswith("Id") else text)
                for name, item in value.items()
            }
        case list():
            return [filled(item, text) for item in value]
        case str():
            return text
    return value


def as_identifier(text: str) -> str:
    """Return as much of a text as an identifier may hold."""
    return text.encode()[:MAX_IDENTIFIER_BYTES].decode(errors="ignore")


RESOURCES = {
    "page": examples.PAGE,
    "audience": examples.AUDIENCE,
    "conversation": examples.CONVERSATION,
    "person": examples.PERSON,
    "subscription": examples.SUBSCRIPTION,
}
FIELDS = sum(map(strings_in, RESOURCES.values()))


@dataclass
class HostileService:
    """Responds with the round's text in every string; ids are the one in the request."""

    text: str = ""
    paths: list[list[str]] = field(default_factory=list)
    """The requested paths as decoded segments."""

    def __call__(self, request: httpx.Request) -> httpx.Response:  # noqa: PLR0911
        path = request.url.raw_path.decode().partition("?")[0]
        segments = [unquote(part) for part in path.split("/")[2:]]
        self.paths.append(segments)
        match request.method, segments:
            case "PATCH", [_, subscription_id]:
                answer = self.filled("subscription") | {"subscriptionId": subscription_id}
                return httpx.Response(200, json=answer)
            case "POST", _:
                return httpx.Response(409, json={"detail": self.text, "errors": [self.problem()]})
            case _, ["persons", *_]:
                return httpx.Response(200, json=_list(self.filled("person")))
            case _, ["pages", page_id]:
                if page_id == "gone":
                    return httpx.Response(500, json={"detail": self.text})
                return httpx.Response(200, json=self.filled("page") | {"pageId": page_id})
            case _, ["pages", page_id, "audiences"]:
                return httpx.Response(200, json=_list(self.audience(page_id)))
            case _, [*_, "messages"]:
                return httpx.Response(200, json=self.filled("conversation"))
        return httpx.Response(
            200, json=_list(self.filled("page"), {"pageId": as_identifier(self.text)})
        )

    def filled(self, name: str) -> Any:
        return filled(RESOURCES[name], self.text)

    def audience(self, page_id: str) -> Any:
        """Return an audience with usable ids and versions."""
        ids = {"pageId": page_id, "audienceId": page_id}
        versions = {
            name: self.filled("audience")[name]
            | {"versionId": f"{page_id}{number}", "versionNumber": number, "audienceId": page_id}
            for number, name in enumerate(("publishedVersion", "latestVersion"), 1)
        }
        versions["latestVersion"]["status"] = "draft"
        return self.filled("audience") | ids | versions

    def problem(self) -> dict[str, str]:
        return {"path": "name", "message": self.text}


def _list(*items: Any) -> dict[str, Any]:
    return {"hasMore": True, "items": list(items), "totalCount": 9, "nextCursor": "again"}


def segment(identifier: str) -> str:
    """Return the URL segment of the dashboard for an id."""
    if identifier == "new":
        return "%256Eew"
    once = quote(identifier, safe="")
    return quote(once.replace(".", "%2E") if not identifier.strip(".") else once)


def addresses(identifier: str) -> dict[str, str]:
    """Return the pages that show the service's objects with this id."""
    page = f"/pages/{segment(identifier)}/"
    audience = f"{page}audiences/{segment(identifier)}/"
    return {
        "pages": "/pages/",
        "page": page,
        "audience": audience,
        "versions": f"{audience}versions/",
        "compare": f"{audience}versions/compare/?from=live&to=latest",
        "publish": f"{audience}versions/{segment(identifier + '2')}/publish/",
        "conversation": f"{audience}conversation/",
        "page preview": f"{page}preview/",
        "preview": f"{audience}preview/?compare=live",
        "new release": f"/releases/new/?audience={segment(identifier)}/{segment(identifier)}",
        "people": "/people/",
        "people searched": "/people/?q=alert",
        "one person": "/people/?person=1",
        "webhooks": "/webhooks/",
        "webhook": f"/webhooks/{segment(identifier)}/",
        "overview": "/",
        "activity": "/activity/",
        "find": "/find/?q=alert",
        "pages seen": "/pages/?q=e&sort=name",
        "an error": "/pages/gone/",
    }
