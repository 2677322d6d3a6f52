"""The page of a request for approval, in the browser of one person."""

from typing import Any, Self

from django.test import Client

from dashboard.approvals.models import ApprovalRequest
from dashboard.releases.models import Release
from tests.support.html import text


class ApprovalPage:
    """The page as its last response showed it."""

    def __init__(self, client: Client, approval: ApprovalRequest) -> None:
        self.client, self.approval = client, approval
        self.html, self.status = "", 0

    def url(self, step: str = "") -> str:
        """Return the URL of the request, or of a decision on it."""
        return f"/approvals/{self.approval.pk}/{step and f'{step}/'}"

    @property
    def text(self) -> str:
        return text(self.html)

    @property
    def release(self) -> Release:
        """The release that it is about, as it is now."""
        return self.approval.releases.get()

    def show(self, response: Any) -> Self:
        self.html, self.status = response.text, response.status_code
        return self

    def open(self, query: str = "") -> Self:
        return self.show(self.client.get(f"{self.url()}{query}"))

    def decide(self, step: str, note: str = "") -> Self:
        """Decide on the request as its page shows it, and follow where that leads."""
        form = {"shown": self.approval.digest, "note": note}
        return self.show(self.client.post(self.url(step), form, follow=True))
