"""A release in a user's browser: its board, its schedule and decisions on it."""

from collections.abc import Callable
from typing import Any, Self, TypeAlias

from django.test import Client

from dashboard.releases.models import Release
from tests.support.html import elements, text

SCHEDULE = {"date": "2030-03-12", "time": "14:30", "zone": "Europe/Oslo"}
"""Default values of the schedule form: 13:30 UTC."""


class ReleasePage:
    """The page as its last response showed it."""

    def __init__(self, client: Client, release: Release) -> None:
        self.client, self.pk = client, release.pk
        self.html, self.status, self.location = "", 0, ""

    def url(self, *steps: str) -> str:
        """Return the URL of the release, or a URL under it."""
        return "/".join([f"/releases/{self.pk}", *steps, ""])

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def release(self) -> Release:
        """The release, read from the database."""
        return Release.objects.get(pk=self.pk)

    @property
    def state(self) -> str:
        return str(self.release.state)

    def field(self, name: str) -> dict[str, str]:
        """Return the attributes of the last field of that name."""
        inputs = [element.attributes for element in elements(self.html, "input")]
        return [field for field in inputs if field.get("name") == name][-1]

    def hidden(self, name: str) -> str:
        """Return the value of the last field of that name."""
        return self.field(name).get("value", "")

    def show(self, response: Any) -> Self:
        self.html, self.status = response.text, response.status_code
        self.location = response.headers.get("Location", "")
        return self

    def open(self, *steps: str) -> Self:
        return self.show(self.client.get(self.url(*steps)))

    def post(self, *steps: str, follow: bool = False, **fields: Any) -> Self:
        return self.show(self.client.post(self.url(*steps), fields, follow=follow))

    def decide(self, *steps: str, **fields: str) -> Self:
        """Submit a decision as the page shows it."""
        shown = self.open().hidden("shown")
        return self.post(*steps, **{"shown": shown} | fields)

    def schedule(self, **fields: str) -> Self:
        """Submit the schedule form as its page shows it."""
        hidden = self.open("schedule").hidden
        return self.post(
            "schedule", **SCHEDULE | {"shown": hidden("shown"), "due": hidden("due")} | fields
        )


Board: TypeAlias = Callable[..., ReleasePage]
"""Makes a checked draft of a number of audiences; returns its page."""
