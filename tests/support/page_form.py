"""The form to create a page in a user's browser, and values for it."""

import json
from typing import Any, Self
from uuid import uuid4

from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.shown_page import ShownPage

NEW = "/pages/new/"
HTMX = {"HX-Request": "true"}

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
    """Return a complete form with a new operation key."""
    return WHOLE | {"operation_key": str(uuid4())} | differs


def values(html: str) -> dict[str, str]:
    """Return the values of a form's fields."""
    return {
        tag.attributes["name"]: tag.attributes.get("value", "")
        for tag in elements(html, "input")
        if tag.attributes.get("type") not in ("radio", "checkbox") and "name" in tag.attributes
    }


class PageForm(ShownPage):
    """The form as its last response showed it, and the service behind it."""

    def __init__(self, client: Client, service: FakeService) -> None:
        super().__init__(client)
        self.service = service

    @property
    def bodies(self) -> list[Any]:
        """Bodies that the service received."""
        return [json.loads(call.content) for call in self.service.sent if call.method == "POST"]

    @property
    def fields(self) -> dict[str, str]:
        """The values of its fields."""
        return values(self.html)

    @property
    def problems(self) -> str:
        """The text of the error summary."""
        start = self.html.index('class="problems"')
        return text(self.html[start - 9 : self.html.index("</section>", start)])

    @property
    def drafts(self) -> list[str]:
        """URLs of the drafts that "Create page" offers."""
        links = [e.attributes.get("href", "") for e in elements(self.client.get(NEW).text, "a")]
        return [link for link in links if link.startswith(f"{NEW}?draft=")]

    def creates(self) -> None:
        """Make the service accept new pages."""
        self.service.answers(201, json=wire.page(pageId="page_new", status="draft"))

    def open(self, url: str = NEW) -> Self:
        return self.show(self.client.get(url, follow=True))

    def open_draft(self) -> Self:
        """Open the only offered draft."""
        [link] = self.drafts
        return self.open(link)

    def new(self, url: str = NEW, **differs: str) -> dict[str, str]:
        """Open the form; return its key and draft with the given values."""
        fields = self.open(url).fields
        return {name: fields[name] for name in ("operation_key", "draft")} | differs

    def whole(self, **differs: str) -> dict[str, str]:
        """Open the form and fill in everything."""
        return self.new(**WHOLE) | differs

    def post(self, fields: dict[str, str], act: str = "", **options: Any) -> Self:
        """Send these fields to the form, or to one of its actions."""
        return self.show(self.client.post(f"{NEW}{act}", fields, **options))

    def submit(self, **differs: str) -> Self:
        """Send a complete form with a new operation key."""
        return self.post(filled(**differs))

    def rows(
        self, command: str, fields: dict[str, str] | None = None, *, target: str = ""
    ) -> dict[str, str]:
        """Add, move or remove rows; return the fields."""
        headers = HTMX | {"HX-Target": target} if target else None
        data = (filled() if fields is None else fields) | {"rows": command}
        assert self.post(data, "rows/", headers=headers).status == 200
        return self.fields

    def leave(self, field: str, fields: dict[str, str]) -> Self:
        """Leave a field, as htmx reports it."""
        assert self.post(fields | {"left": field}, "field/", headers=HTMX).status == 200
        return self

    def save(self, fields: dict[str, str]) -> str:
        """Save a draft as the browser does while typing; return the message."""
        assert self.post(fields, "draft/", headers=HTMX).status == 200
        return self.text
