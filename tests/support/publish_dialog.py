"""The publish dialog of a version in a user's browser, and the service behind it."""

import re
from typing import Self

from django.test import Client

from dashboard.ledger.models import Operation
from tests.support.html import elements, text
from tests.support.publishing_service import PublishingService
from tests.support.shown_page import ShownPage

AUDIENCE = "/pages/page_1/audiences/aud_1/"

ADDRESS = f"{AUDIENCE}versions/ver_2/publish/"

EARLIER = ADDRESS.replace("ver_2", "ver_1")

DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}

PROGRESS = {"HX-Request": "true", "HX-Target": "progress"}


def form_in(html: str) -> dict[str, str]:
    """Return the fields of the publish form; the number is empty."""
    inputs = [e.attributes for e in elements(html, "input")]
    names = ("operation_key", "shown", "number")
    return {e["name"]: e["value"] for e in inputs if e.get("name") in names}


class PublishDialog(ShownPage):
    """The dialog at a URL, as its last response showed it."""

    def __init__(self, client: Client, service: PublishingService, url: str = ADDRESS) -> None:
        super().__init__(client)
        self.service, self.url = service, url

    @property
    def state(self) -> str:
        """The heading, such as "Publishing version 2" or "Version 2 is live"."""
        heading = re.search(r'<h1[^>]* id="pub-h".*?</h1>', self.html, re.DOTALL)
        assert heading
        return text(heading[0])

    @property
    def form(self) -> dict[str, str]:
        return form_in(self.html)

    @property
    def key(self) -> str:
        """The operation key of the form; empty if there is none."""
        return self.form.get("operation_key", "")

    @property
    def poll_url(self) -> str:
        """The URL of the next poll; empty after the last one."""
        [progress] = [e for e in elements(self.html) if e.attributes.get("id") == "progress"]
        return progress.attributes.get("hx-get", "")

    def open(self, **headers: str) -> Self:
        return self.show(self.client.get(self.url, headers=headers or None))

    def press(self, form: dict[str, str] | None = None, **fields: str) -> Self:
        """Send the current form, or an older one, with changed values."""
        form = self.form if form is None else form
        return self.show(self.client.post(self.url, form | fields, follow=True))

    def publish(self, **fields: str) -> Self:
        """Open the dialog and press its button."""
        return self.open().press(**fields)

    def poll(self) -> Self:
        """Poll the progress, as a browser does."""
        return self.show(self.client.get(self.poll_url, headers=PROGRESS))

    def send_again(self, **headers: str) -> Self:
        """Retry the publish from the dialog."""
        url = f"/activity/{Operation.objects.get().operation_key}/send-again/"
        form = {"from": "publish"}
        return self.show(self.client.post(url, form, headers=headers or None, follow=True))
