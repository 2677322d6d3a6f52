"""The form that creates a page: what it holds, and what is typed."""

import json
from typing import Any
from uuid import uuid4

from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text

NEW = "/pages/new/"

WHOLE = {
    "name": "Spring outbound",
    "pageType": "outbound",
    "brandId": "brand_1",
    "pageContext": "For carriers.\r\nSpeak plainly.",
    "headerActionId": "book",
    "actions.0.buttonTitle": "Book a call",
    "actions.0.purpose": "Meeting",
    "actions.0.actionType": "calendar",
    "actions.0.actionId": "book",
    "actions.0.url": "https://a.example/book",
    "actionCardWidgets.0.type": "logo_strip",
    "actionCardWidgets.0.title": "Carriers",
    "actionCardWidgets.0.logos.0.image.url": "https://cdn.example/l.svg",
    "actionCardWidgets.0.logos.0.image.altText": "Nordlys",
    "footerLinks.0.title": "Legal",
    "footerLinks.0.links.0.text": "Imprint",
    "footerLinks.0.links.0.url": "https://a.example/imprint",
    "scripts.0.name": "Counter",
    "scripts.0.content": "  count()\r\n",
    "scripts.0.enabled": "on",
    "metadata.title": "Meta",
    "metadata.keywords": "fleet, reefer ,",
    "metadata.ogUrl": "https://a.example",
}


def filled(**differs: str) -> dict[str, str]:
    return WHOLE | {"operation_key": str(uuid4())} | differs


def bodies(fake_service: FakeService) -> list[Any]:
    """Return the body of the create request."""
    return [
        json.loads(request.content) for request in fake_service.sent if request.method == "POST"
    ]


def creates(fake_service: FakeService) -> None:
    fake_service.answers(201, json=wire.page(pageId="page_new", status="draft"))


def values(html: str) -> dict[str, str]:
    """Return the values of a form's fields."""
    return {
        tag.attributes["name"]: tag.attributes.get("value", "")
        for tag in elements(html, "input")
        if tag.attributes.get("type") not in ("radio", "checkbox") and "name" in tag.attributes
    }


def problems(html: str) -> str:
    """Return the text of the error summary."""
    start = html.index('class="problems"')
    return text(html[start - 9 : html.index("</section>", start)])


HTMX = {"HX-Request": "true"}


def form_fields(client: Client, address: str = NEW) -> dict[str, str]:
    """Return the hidden fields of a rendered form: its key and its ticket."""
    fieldsd = values(client.get(address).text)
    return {name: fieldsd[name] for name in ("operation_key", "draft")}


def offered(client: Client) -> list[str]:
    """Return the URLs of the drafts offered on "Create page"."""
    html = client.get(NEW).text
    links = [tag.attributes.get("href", "") for tag in elements(html, "a")]
    return [link for link in links if link.startswith(f"{NEW}?draft=")]
