"""Putting into the ledger what a service would have said, for tests of what is known."""

from typing import Any

from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger import recording
from tests import wire


def know_pages(*pages: dict[str, Any], total: int | None = None) -> None:
    """Remember pages; `total` is how many the service says there are."""
    found = wire.envelope(*pages, totalCount=len(pages) if total is None else total)
    recording.remember_pages(ListEnvelope[PageItem].model_validate(found))


def know_audiences(*audiences: dict[str, Any], page_id: str = "page_1") -> None:
    """Remember audiences of a page, and their versions."""
    recording.remember_audiences(page_id, [Audience.model_validate(one) for one in audiences])


def know_subscription(**differs: Any) -> None:
    """Remember a subscription."""
    found = WebhookSubscription.model_validate(wire.subscription(**differs))
    recording.remember_subscription(found, label="CRM")
