"""The publish dialog filled in to schedule version 2, or to request its approval."""

import re
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from tests.support.html import elements, response_text
from tests.support.publish_dialog import ADDRESS, PublishDialog

ACTS = {"now": ADDRESS, "schedule": f"{ADDRESS}schedule/", "approval": f"{ADDRESS}request/"}
"""The URL for each choice of when to publish."""

WITHIN = {"HX-Request": "true", "HX-Target": "publish"}

PREVIEW = {"HX-Request": "true", "HX-Target": "schedule-moment"}

OSLO = ZoneInfo("Europe/Oslo")


def tomorrow() -> str:
    """Return tomorrow's date in Oslo."""
    return timezone.localdate(timezone.now() + timedelta(days=1), OSLO).isoformat()


TOMORROW = tomorrow()
"""Tomorrow when the tests began, which is a date in the future."""

CHOSEN = {"when": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}
"""Default values of the form."""


class ScheduleForm(PublishDialog):
    """The form of the dialog as its last response showed it."""

    @property
    def hidden(self) -> dict[str, str]:
        """The hidden fields."""
        inputs = [element.attributes for element in elements(self.html, "input")]
        names = ("operation_key", "shown", "ticket")
        return {box["name"]: box["value"] for box in inputs if box.get("name") in names}

    @property
    def typed(self) -> dict[str, str]:
        """The values of the schedule's fields."""
        inputs = [element.attributes for element in elements(self.html, "input")]
        fields = {
            box["name"]: box.get("value", "")
            for box in inputs
            if box.get("name") in ("date", "time")
            or (box.get("name") == "when" and "checked" in box)
        }
        zone = re.search(r'<option value="([^"]*)" selected>', self.html)
        note = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", self.html, re.S)
        assert zone
        assert note
        return fields | {"zone": zone[1], "note": note[1]}

    @property
    def disabled(self) -> dict[str, bool]:
        """Whether each choice of when to publish is disabled."""
        inputs = (element.attributes for element in elements(self.html, "input"))
        return {box["value"]: "disabled" in box for box in inputs if box.get("name") == "when"}

    def fill(self, **changes: str) -> dict[str, str]:
        """Open the form; return it filled in for tomorrow, with changes."""
        return self.open().hidden | CHOSEN | changes

    def send(self, fields: dict[str, str], **options: Any) -> Any:
        """Press the button of the choice, or of an emergency; return the response."""
        url = ADDRESS if "emergency" in fields else ACTS[fields["when"]]
        response = self.client.post(url, fields, **options)
        self.show(response)
        return response

    def submit(self, **changes: str) -> str:
        """Fill in the form and press the button; return the text of the next page."""
        self.send(self.fill(**changes), follow=True)
        return self.text

    def preview(self, **changes: str) -> str:
        """Return what the dialog says about the time while it is being chosen."""
        return response_text(
            self.client.get("/releases/moment/", CHOSEN | changes, headers=PREVIEW)
        )
