"""The tables of the embedded API.

Primary keys are the ids of the API, so a foreign key's column holds the id that the API returns.
Dates are marks (see `ids.py`). JSON columns have camelCase keys, as in the API.
"""

from dashboard.embedded_api.models.pages import Audience, Conversation, OperationKey, Page, Version
from dashboard.embedded_api.models.people import Person, fold_for_search
from dashboard.embedded_api.models.tenants import DEFAULT_TENANT_ID, ApiKey, Tenant
from dashboard.embedded_api.models.webhooks import (
    EventDeliveryState,
    SigningSecret,
    Subscription,
    WebhookDelivery,
    WebhookDeliveryAttempt,
    WebhookEvent,
)

__all__ = [
    "DEFAULT_TENANT_ID",
    "ApiKey",
    "Audience",
    "Conversation",
    "EventDeliveryState",
    "OperationKey",
    "Page",
    "Person",
    "SigningSecret",
    "Subscription",
    "Tenant",
    "Version",
    "WebhookDelivery",
    "WebhookDeliveryAttempt",
    "WebhookEvent",
    "fold_for_search",
]
