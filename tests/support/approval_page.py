"""The page of an approval request in a user's browser."""

from typing import Any, Self

from django.test import Client

from dashboard.approvals.models import ApprovalRequest
from dashboard.releases.models import Release
from tests.support.shown_page import ShownPage


def approval_url(approval: ApprovalRequest, step: str = "") -> str:
    """Return the URL of a request, or of a decision on it."""
    return f"/approvals/{approval.pk}/{step and f'{step}/'}"


class ApprovalPage(ShownPage):
    """The page as its last response showed it."""

    def __init__(self, client: Client, approval: ApprovalRequest) -> None:
        super().__init__(client)
        self.approval = approval
        self.url_shown = self.url()
        """The URL that the browser shows, after redirects."""

    def url(self, step: str = "") -> str:
        return approval_url(self.approval, step)

    @property
    def state(self) -> str:
        """The state of the request, read again."""
        return ApprovalRequest.objects.get(pk=self.approval.pk).state

    @property
    def release(self) -> Release:
        """The release of the request, read again."""
        return self.approval.releases.get()

    def show(self, response: Any) -> Self:
        query = response.request["QUERY_STRING"]
        self.url_shown = response.request["PATH_INFO"] + (f"?{query}" if query else "")
        return super().show(response)

    def open(self, query: str = "") -> Self:
        return self.show(self.client.get(f"{self.url()}{query}"))

    def decide(self, step: str, note: str = "") -> Self:
        """Decide on the request as its page shows it, and follow the redirect."""
        form = {"shown": self.approval.digest, "note": note}
        return self.show(self.client.post(self.url(step), form, follow=True))
