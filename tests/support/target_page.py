"""A webhook that receives notifications, in a user's browser: its forms, tests and secret."""

from typing import Any, Self

from django.test import Client

from dashboard.notifications.models import WebhookTarget
from tests.support.notification_settings import SETTINGS
from tests.support.shown_page import ShownPage

NEW = f"{SETTINGS}webhooks/new/"
ENTERED = {"name": "My channel", "url": "https://hooks.example.com/1", "format": "slack"}
"""Values for the form that adds one."""
POLL = {"HX-Request": "true", "HX-Target": "test-poll"}


class TargetPage(ShownPage):
    """The page of a webhook as its last response showed it; without a webhook, the form."""

    def __init__(self, client: Client, target: WebhookTarget | None = None) -> None:
        super().__init__(client)
        self.pk = target.pk if target else 0

    @property
    def target(self) -> WebhookTarget:
        """The webhook, read from the database."""
        return WebhookTarget.objects.get(pk=self.pk) if self.pk else WebhookTarget.objects.get()

    def url(self, step: str = "") -> str:
        return f"{SETTINGS}webhooks/{self.target.pk}/{step and f'{step}/'}"

    def open(self, step: str = "") -> Self:
        return self.show(self.client.get(self.url(step)))

    def open_form(self) -> Self:
        return self.show(self.client.get(NEW))

    def add(self, *, is_team: bool = False, **fields: Any) -> Self:
        """Submit the form that adds one."""
        url = f"{NEW}?team=1" if is_team else NEW
        return self.show(self.client.post(url, ENTERED | fields))

    def change(self, **fields: Any) -> Self:
        """Submit the form of the webhook; it stays on only with `is_active`."""
        return self.show(self.client.post(self.url(), fields))

    def delete(self) -> Self:
        """Confirm the deletion."""
        return self.show(self.client.post(self.url("delete")))

    def send_test(self) -> str:
        """Press the button that sends a test; return the text of the next page."""
        return self.show(self.client.post(self.url("test"), follow=True)).text

    def poll(self) -> Self:
        """Poll the result of the test, as a browser does."""
        return self.show(self.client.get(self.url(), headers=POLL))
