"""The dialog's form, filled in to schedule version 2."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.test import Client
from django.utils import timezone

from tests.support.html import elements

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"

ACTS = {"now": ADDRESS, "schedule": f"{ADDRESS}schedule/", "approval": f"{ADDRESS}request/"}
"""The URL of each choice."""

DIALOG = {"HX-Request": "true", "HX-Target": "publish"}

OSLO = ZoneInfo("Europe/Oslo")


def tomorrow() -> str:
    """Return the date of tomorrow in Oslo."""
    return timezone.localdate(timezone.now() + timedelta(days=1), OSLO).isoformat()


TOMORROW = tomorrow()
"""When the tests began: a date in the future, that is."""


def form(client: Client, **changes: str) -> dict[str, str]:
    """Return the dialog's form, filled in to be scheduled tomorrow unless typed otherwise."""
    html = client.get(ADDRESS).text
    inputs = [element.attributes for element in elements(html, "input")]
    names = ("operation_key", "shown", "ticket")
    hidden = {box["name"]: box["value"] for box in inputs if box.get("name") in names}
    chosen = {"when": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}
    return hidden | chosen | changes


def send(client: Client, sent: dict[str, str], **options: Any) -> Any:
    """Press the button of the choice, or that of an emergency."""
    return client.post(ADDRESS if "emergency" in sent else ACTS[sent["when"]], sent, **options)
