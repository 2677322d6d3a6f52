"""The settings of a user's notifications: events, quiet hours, the summary and the address."""

from typing import Any, Self

from tests.support.html import elements
from tests.support.shown_page import ShownPage

SETTINGS = "/accounts/settings/notifications/"
ADDRESS = f"{SETTINGS}email/"
CHOSEN = {
    "cells": ["publish_failed:email"],
    "quiet_from": "19:00",
    "quiet_to": "07:30",
    "time_zone": "Europe/Oslo",
    "digest_hour": "9",
}
"""Values for the form of the settings."""


class NotificationSettings(ShownPage):
    """The settings as the last response showed them."""

    @property
    def cells(self) -> dict[str, bool]:
        """Whether each box of the matrix is checked, by event and channel."""
        boxes = [element.attributes for element in elements(self.html, "input")]
        return {box["value"]: "checked" in box for box in boxes if box.get("name") == "cells"}

    def open(self, url: str = SETTINGS) -> Self:
        return self.show(self.client.get(url))

    def save(self, **changes: Any) -> Self:
        return self.show(self.client.post(SETTINGS, CHOSEN | changes))

    def change_address(self, address: str) -> Self:
        """Request a link to a new e-mail address."""
        return self.show(self.client.post(ADDRESS, {"email": address}))

    def confirm(self, link: str) -> Self:
        """Press the button of the page that a link opens."""
        return self.show(self.client.post(link))

    def reset_address(self) -> Self:
        return self.show(self.client.post(f"{ADDRESS}reset/"))
