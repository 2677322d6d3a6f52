"""Webhook subscriptions: operation 9."""

from enum import StrEnum

from dashboard.contract.resource import Resource
from dashboard.contract.wire import DateText, Identifier, WireModel


class EventName(StrEnum):
    """The spec's event names (Events)."""

    PAGE_VERSION_CREATED = "page.version.created"
    PAGE_VERSION_PROCESSED = "page.version.processed"
    PAGE_VERSION_PUBLISHED = "page.version.published"
    FORM_SUBMITTED = "form.submitted"
    FORM_ENRICHED = "form.enriched"
    FORM_ENRICHMENT_FAILED = "form.enrichment_failed"


class WebhookSubscription(Resource):
    """A subscription. What null events select is not shown."""

    subscription_id: Identifier
    url: str
    events: list[str] | None
    active: bool
    created_at: DateText
    updated_at: DateText


class SubscriptionPatch(WireModel):
    """The body of operation 9: every field optional, and only what is set is sent."""

    url: str | None = None
    events: list[str] | None = None
    active: bool | None = None
