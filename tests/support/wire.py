"""JSON objects of the API, written by hand from the spec. Arguments override fields."""

from typing import Any

MARK = "accountlog_01jr2b6k9d4h8j3q7w5y0t1x2c"


def page(**differs: Any) -> dict[str, Any]:
    """A Page."""
    return {
        "actions": [],
        "actionCardWidgets": [],
        "archivedAt": None,
        "audiencesCount": 2,
        "brandId": "brand_1",
        "createdAt": "2026-03-01T09:00:00Z",
        "deletedAt": None,
        "footerLinks": [],
        "name": "Fleet telematics",
        "pageContext": "For regional carriers.",
        "pageId": "page_1",
        "pageType": "outbound",
        "scripts": [],
        "status": "published",
        "tenantId": "ten_1",
        "title": "Every truck on one map",
        "updatedAt": "2026-03-02T09:00:00Z",
    } | differs


def version(**differs: Any) -> dict[str, Any]:
    """An AudienceVersion: a draft."""
    return {
        "archivedAt": None,
        "audienceId": "aud_1",
        "becameDraftAt": "2026-03-01T09:05:00Z",
        "cancelledAt": None,
        "createdAt": "2026-03-01T09:00:00Z",
        "isNewPageAgent": True,
        "obsoleteAt": None,
        "publishedAt": None,
        "queueDurationMs": None,
        "queuedAt": None,
        "status": "draft",
        "supplementaryContext": "Runs 71 trucks.",
        "tenantId": "ten_1",
        "versionId": "ver_2",
        "versionNumber": 2,
    } | differs


def live_version(**differs: Any) -> dict[str, Any]:
    """An AudienceVersion: version 1, published."""
    published = {
        "publishedAt": "2026-02-01T10:00:38Z",
        "queuedAt": "2026-02-01T10:00:00Z",
        "queueDurationMs": 38_000,
        "status": "published",
        "supplementaryContext": "Runs 64 trucks.",
        "versionId": "ver_1",
        "versionNumber": 1,
    }
    return version(**published | differs)


def audience(**differs: Any) -> dict[str, Any]:
    """An Audience with a draft over a live version."""
    return {
        "audienceId": "aud_1",
        "computedName": "Brightwater Foods Group plc",
        "createdAt": "2026-01-14T08:00:00Z",
        "customName": "Brightwater Foods",
        "effectiveName": "Brightwater Foods",
        "isNewPageAgent": True,
        "latestVersion": version(),
        "publishedVersion": live_version(),
        "pageId": "page_1",
        "prospectId": "prospect_1",
        "prospectRouteKey": "brightwater-foods",
        "supplementaryContext": "Runs 71 trucks.",
        "tenantId": "ten_1",
    } | differs


def person(**differs: Any) -> dict[str, Any]:
    """A Person."""
    return {
        "personId": "prospect_1",
        "tenantId": "ten_1",
        "name": "Ada Lovelace",
        "email": "ada@analytical.example",
        "domain": "analytical.example",
        "slug": "ada-lovelace",
        "phoneNumber": "+44 20 7946 0001",
        "linkedinProfileUrl": "https://linkedin.example/in/ada",
        "createdAt": "2026-01-14T08:00:00Z",
        "updatedAt": "2026-01-14T08:00:00Z",
    } | differs


def subscription(**differs: Any) -> dict[str, Any]:
    """A WebhookSubscription."""
    return {
        "subscriptionId": "whs_1",
        "url": "https://hooks.example/in",
        "events": ["form.submitted"],
        "active": True,
        "createdAt": MARK,
        "updatedAt": MARK,
    } | differs


def envelope(*items: Any, **differs: Any) -> dict[str, Any]:
    """A list envelope with all items."""
    return {"hasMore": False, "items": list(items), "totalCount": len(items)} | differs


def conversation(**differs: Any) -> dict[str, Any]:
    """A Conversation without messages."""
    return {
        "conversation": {"conversationId": "conv_1", "audienceId": "aud_1"},
        "messages": [],
        "context": {"audienceId": "aud_1", "pageId": "page_1", "tenantId": "ten_1"},
        "pendingChanges": [],
    } | differs
