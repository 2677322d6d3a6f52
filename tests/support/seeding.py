"""Record API objects in the ledger, for tests without a service."""

from typing import Any

from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger import recording
from tests.support import wire


def seed_pages(*pages: dict[str, Any], total: int | None = None) -> None:
    """Record pages; `total` is the service's total count."""
    envelope = wire.envelope(*pages, totalCount=len(pages) if total is None else total)
    recording.record_pages(ListEnvelope[PageItem].model_validate(envelope))


def seed_audiences(*audiences: dict[str, Any], page_id: str = "page_1") -> None:
    """Record audiences of a page, and their versions."""
    recording.record_audiences(page_id, [Audience.model_validate(one) for one in audiences])


def seed_subscription(**differs: Any) -> None:
    """Record a subscription."""
    subscription = WebhookSubscription.model_validate(wire.subscription(**differs))
    recording.record_subscription(subscription, label="CRM")
