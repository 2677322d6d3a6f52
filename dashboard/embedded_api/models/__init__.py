"""The tables of the embedded API.

Ids are the wire's own texts and the primary keys, so a foreign key's column is the id the wire
shows. Dates are marks (see `marks`). JSON columns hold camelCase, as the wire has it.
"""

from dashboard.embedded_api.models.audiences import Audience, OperationKey, Version
from dashboard.embedded_api.models.conversations import Conversation
from dashboard.embedded_api.models.pages import Page
from dashboard.embedded_api.models.people import (
    Person,
    PersonChange,
    PersonPiece,
    PersonText,
    SearchState,
)
from dashboard.embedded_api.models.tenants import DEFAULT_TENANT_ID, ApiKey, Tenant
from dashboard.embedded_api.models.webhooks import Subscription

__all__ = [
    "DEFAULT_TENANT_ID",
    "ApiKey",
    "Audience",
    "Conversation",
    "OperationKey",
    "Page",
    "Person",
    "PersonChange",
    "PersonPiece",
    "PersonText",
    "SearchState",
    "Subscription",
    "Tenant",
    "Version",
]
