"""A release in a user's browser: its board, its schedule and decisions on it."""

from collections.abc import Callable
from typing import Any, Self, TypeAlias

from django.test import Client

from dashboard.releases.models import Release, ReleaseItem
from tests.support.live_page import Region
from tests.support.shown_page import ShownPage

SCHEDULE = {"date": "2030-03-12", "time": "14:30", "zone": "Europe/Oslo"}
"""Default values of the schedule form: 13:30 UTC."""


class ReleasePage(ShownPage):
    """The page as its last response showed it."""

    def __init__(self, client: Client, release: Release) -> None:
        super().__init__(client)
        self.pk = release.pk

    def url(self, *steps: str) -> str:
        """Return the URL of the release, or a URL under it."""
        return "/".join([f"/releases/{self.pk}", *steps, ""])

    @property
    def release(self) -> Release:
        """The release, read from the database."""
        return Release.objects.get(pk=self.pk)

    @property
    def state(self) -> str:
        return str(self.release.state)

    def open(self, *steps: str, query: str = "", **options: Any) -> Self:
        return self.show(self.client.get(f"{self.url(*steps)}{query}", **options))

    def post(
        self,
        *steps: str,
        follow: bool = False,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> Self:
        url = self.url(*steps)
        return self.show(self.client.post(url, fields, follow=follow, headers=headers))

    def decide(self, *steps: str, **fields: str) -> Self:
        """Submit a decision as the page shows it."""
        shown = self.open().value("shown")
        return self.post(*steps, **{"shown": shown} | fields)

    def schedule(self, **fields: str) -> Self:
        """Submit the schedule form as its page shows it."""
        value = self.open("schedule").value
        return self.post(
            "schedule", **SCHEDULE | {"shown": value("shown"), "due": value("due")} | fields
        )

    @property
    def items(self) -> list[ReleaseItem]:
        return list(self.release.items.all())

    @property
    def item_ids(self) -> list[str]:
        return [str(item.pk) for item in self.items]

    def act(self, item: ReleaseItem, action: str, **fields: Any) -> Self:
        """Press a button of an item."""
        return self.post("items", str(item.pk), action=action, **fields)

    def review(self, item: ReleaseItem, **options: Any) -> Self:
        """Mark an item as reviewed."""
        return self.act(item, "reviewed", shown=item.digest, **options)

    def watch(self) -> Region:
        """Open the page, and follow what it polls."""
        return Region(self.client, self.url(), "release")


Board: TypeAlias = Callable[..., ReleasePage]
"""Makes a checked draft of a number of audiences; returns its page."""
