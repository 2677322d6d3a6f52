"""The form and the switch of a listed webhook."""

import json
from typing import Any
from uuid import uuid4

from django.test import Client

from dashboard.ledger.models import SubscriptionRecord
from tests.support.html import elements, response_text, text
from tests.support.webhook_service import WebhookService

PAGE = "/webhooks/whs_1/"
LIVE = {"HX-Request": "true", "HX-Target": "sending"}
"""Headers of htmx while a user types."""


def fields(html: str) -> dict[str, Any]:
    """Return what the edit form's button would submit."""
    form = html.split("data-edit>")[1].split("</form>", maxsplit=1)[0]
    data: dict[str, Any] = {}
    for element in elements(form, "input"):
        source = element.attributes
        is_box = source.get("type") in ("checkbox", "radio")
        if "name" not in source or (is_box and "checked" not in source):
            continue
        if source["name"] == "events":
            data.setdefault("events", []).append(source["value"])
        else:
            data[source["name"]] = source.get("value", "")
    return data


def sent_body(html: str) -> Any:
    """Return the JSON that the page shows as the body to send."""
    sending = html.split('id="sending"')[1].split("</pre>", maxsplit=1)[0]
    return json.loads(text("<pre" + sending.split("<pre")[1]))


class ListedWebhook:
    """The only listed webhook, in an administrator's browser."""

    def __init__(self, client: Client, service: WebhookService) -> None:
        self.client, self.service = client, service

    @property
    def changes(self) -> list[Any]:
        """The bodies that the service received."""
        return self.service.changes


class WebhookForm(ListedWebhook):
    """The form of the only listed webhook."""

    def page(self) -> str:
        """Fetch the page."""
        return str(self.client.get(PAGE).text)

    def filled(self, **values: Any) -> dict[str, Any]:
        """Fetch the form; return it with changed values."""
        return fields(self.page()) | values

    def post(self, data: dict[str, Any], **options: Any) -> Any:
        return self.client.post(PAGE, data, **options)

    def submit(self, response: Any, **options: Any) -> Any:
        """Press the button of the form in a response."""
        return self.post(fields(response.text), **options)

    def preview(self, **values: Any) -> Any:
        """Fetch the body to send, as htmx does while a user types."""
        return self.post(self.filled(step="preview", **values), headers=LIVE)

    def review(self, **values: Any) -> dict[str, Any]:
        """Press the button once; return the form that shows the body."""
        response = self.post(self.filled(**values))
        assert "Not sent yet." in response_text(response)
        return fields(response.text)

    def save(self, *, note: str = "", **values: Any) -> Any:
        """Review the body and send it."""
        return self.post(self.review(**values) | {"note": note}, follow=True)


class WebhookSwitch(ListedWebhook):
    """The switch of the only listed webhook."""

    def post(self, data: dict[str, str], **options: Any) -> Any:
        return self.client.post(f"{PAGE}active/", data, **options)

    def press(self, active: str, **differs: str) -> Any:
        """Press the switch and confirm if required; return the partial that htmx gets."""
        number = SubscriptionRecord.objects.get().pk
        headers = {"HX-Request": "true", "HX-Target": f"switch-{number}"}
        data = {"active": active, "confirmed": "1", "operation_key": str(uuid4())} | differs
        return self.post(data, headers=headers)
