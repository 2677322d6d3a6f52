"""The pages that use each of the nine operations, and what each must show when that fails."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from django.test import Client
from django.urls import reverse

from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import publish_key
from tests.support import wire

AUDIENCE = ("page_1", "aud_1")
LAST_KNOWN = (200, "last known")
VERSION = (*AUDIENCE, "ver_2")
WHOLE_PAGE = {
    "name": "Spring outbound",
    "pageType": "outbound",
    "brandId": "brand_1",
    "pageContext": "For carriers.",
}


@dataclass(frozen=True)
class Reads:
    """A page that shows what one operation reads."""

    operation: str
    address: str
    is_remembered: bool = True
    """Whether the ledger has the data, so that the page shows it as last known."""
    survives: bool = False
    """Whether the page is complete without the data."""
    not_there: tuple[int, str] = (404, "Not found")
    """Status and text of the page when the service returns 404."""
    gone: tuple[int, str] | None = None
    """The same for a 410; None if it makes no difference."""

    def __str__(self) -> str:
        """Return the name for test ids."""
        return f"{self.operation}-{self.address}"


@dataclass(frozen=True)
class Writes:
    """A form that sends one operation."""

    operation: str
    kind: OperationKind

    def __str__(self) -> str:
        """Return the name for test ids."""
        return self.operation

    def send(self, client: Client) -> Any:
        """Send the form as a person does, and follow its redirect."""
        key = {"operation_key": str(uuid4())}
        match self.kind:
            case OperationKind.PUBLISH_VERSION:
                address = reverse("version-publish", args=VERSION)
                key = {"operation_key": publish_key(*VERSION)}
            case OperationKind.CREATE_PAGE:
                address, key = reverse("page-create"), key | WHOLE_PAGE
            case OperationKind.UPDATE_SUBSCRIPTION:
                address = reverse("subscription-active", args=["whs_1"])
                key |= {"active": "off", "confirmed": "1"}
        return client.post(address, key, follow=True)


READS = [
    Reads("List pages", reverse("page-list"), not_there=LAST_KNOWN),
    Reads("Get page", reverse("page-detail", args=["page_1"])),
    Reads("Get page", reverse("version-publish", args=VERSION), survives=True),
    Reads("List audiences", reverse("page-detail", args=["page_1"]), survives=True),
    Reads("List audiences", reverse("audience-detail", args=AUDIENCE)),
    Reads("List audiences", reverse("version-list", args=AUDIENCE)),
    Reads("List audiences", reverse("version-compare", args=AUDIENCE) + "?from=latest&to=live"),
    Reads("List audiences", reverse("version-publish", args=VERSION)),
    Reads(
        "Get audience messages",
        reverse("conversation", args=AUDIENCE),
        is_remembered=False,
        not_there=(200, "lists this audience but has no conversation for it"),
        gone=(410, "Conversation no longer exists"),
    ),
    Reads(
        "Get audience messages", reverse("conversation-export", args=AUDIENCE), is_remembered=False
    ),
    Reads("Get audience messages", reverse("version-publish", args=VERSION), survives=True),
    Reads("List people", reverse("people-list"), is_remembered=False),
    Reads("List people", reverse("people-export"), is_remembered=False),
    Reads("Search people", reverse("people-list") + "?q=ada", is_remembered=False),
    Reads(
        "Update webhook subscription",
        reverse("subscription-detail", args=["whs_1"]),
        not_there=LAST_KNOWN,
    ),
]
WRITES = [
    Writes("Create page", OperationKind.CREATE_PAGE),
    Writes("Publish audience version", OperationKind.PUBLISH_VERSION),
    Writes("Update webhook subscription", OperationKind.UPDATE_SUBSCRIPTION),
]


def good_answer(operation: str, request: httpx.Request) -> Any:  # noqa: PLR0911
    """Return the JSON that a working service returns."""
    match operation:
        case "List pages":
            return wire.envelope(wire.page())
        case "Create page":
            return wire.page(pageId="page_new", status="draft")
        case "Get page":
            return wire.page()
        case "List audiences":
            return wire.envelope(wire.audience())
        case "Get audience messages":
            return wire.conversation(
                messages=[{"messageId": "m_1", "content": "Hello", "timestamp": 1.7e12}]
            )
        case "Publish audience version":
            return wire.version(status="queued", queuedAt="2026-03-03T09:00:00Z")
        case "Update webhook subscription":
            return wire.subscription(active=b"false" not in request.content)
    return wire.envelope(wire.person())


def operation_of(request: httpx.Request) -> str:  # noqa: PLR0911
    """Return the spec's name for the operation of a request."""
    segments = request.url.path.removeprefix("/v0/").split("/")
    match request.method, segments:
        case "POST", ["pages"]:
            return "Create page"
        case "POST", _:
            return "Publish audience version"
        case "PATCH", _:
            return "Update webhook subscription"
        case _, ["persons", *search]:
            return "Search people" if search else "List people"
        case _, [*_, "audiences"]:
            return "List audiences"
        case _, [*_, "messages"]:
            return "Get audience messages"
    return "Get page" if len(segments) > 1 else "List pages"
