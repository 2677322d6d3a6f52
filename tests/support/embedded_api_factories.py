"""Factories for minimal rows."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from dashboard.contract.wire import write_mark
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import (
    Audience,
    Conversation,
    Page,
    Person,
    Subscription,
    Tenant,
    Version,
)

PAGE_BODY: dict[str, Any] = {
    "actions": [],
    "actionCardWidgets": [],
    "brandId": "brand-1",
    "name": "Acme for banks",
    "pageContext": "What Acme does.",
    "scripts": [],
}


def ago(**duration: float) -> str:
    """Return the mark of a past time."""
    return write_mark(timezone.now() - timedelta(**duration))


def make_page(**fields: Any) -> Page:
    """Return a draft page of the default tenant."""
    values = {"name": "Acme", "title": "Acme", "page_context": "Context", "brand_id": "brand-1"}
    tenant = fields.pop("tenant", None) or default_tenant()
    return Page.objects.create(tenant=tenant, **{**values, **fields})


def make_audience(page: Page | None = None, **fields: Any) -> Audience:
    """Return an audience of the page, or of a new one."""
    page = page or make_page()
    return Audience.objects.create(tenant=page.tenant, page=page, **fields)


def make_version(audience: Audience | None = None, number: int = 1, **fields: Any) -> Version:
    """Return a draft version; `became_draft_at=None` makes a pending one."""
    audience = audience or make_audience()
    values = {"became_draft_at": ago(days=1), "created_at": ago(days=2)}
    return Version.objects.create(
        tenant=audience.tenant, audience=audience, version_number=number, **{**values, **fields}
    )


def make_live_version(audience: Audience | None = None, number: int = 1, **fields: Any) -> Version:
    """Return a version that has been live for an hour."""
    dates = {"queued_at": ago(hours=2), "processing_at": ago(hours=1.5)}
    return make_version(audience, number, **dates, published_at=ago(hours=1), **fields)


def make_person(name: str = "Ada Lovelace", **fields: Any) -> Person:
    """Return a person of the default tenant."""
    return Person.objects.create(
        tenant=fields.pop("tenant", None) or default_tenant(), name=name, **fields
    )


def make_subscription(**fields: Any) -> Subscription:
    """Return an active subscription to one event."""
    values = {"url": "https://acme.example/hook", "events": ["form.submitted"]}
    tenant = fields.pop("tenant", None) or default_tenant()
    return Subscription.objects.create(tenant=tenant, **{**values, **fields})


def make_conversation(audience: Audience | None = None, **fields: Any) -> Conversation:
    """Return a conversation of one message."""
    messages = [{"messageId": "msg_1", "content": "Hello", "timestamp": 1_700_000_000_000}]
    return Conversation.objects.create(
        audience=audience or make_audience(), **{"messages": messages, **fields}
    )


def other_tenant() -> Tenant:
    """Return a tenant whose objects the default tenant's keys can't access."""
    return Tenant.objects.create(name="Somebody else")


def publish_path(version: Version) -> str:
    """Return the path that publishes the version."""
    audience = version.audience
    return f"/v0/pages/{audience.page_id}/audiences/{audience.id}/versions/{version.id}/publish"


def moment(text: str) -> datetime:
    """Parse an ISO 8601 text."""
    return datetime.fromisoformat(text)
