"""JSON of every resource, copied from the spec by hand, with every field of the spec once.

`tests/support/wire.py` has shorter, realistic objects for other tests.
"""

from typing import Any

CREATED = "accountlog_01jd3z5q8ee8vsj3m2k9x7w4ab"
UPDATED = "accountlog_01jd40aaaaebbbbbcccccddddd"

METADATA_REQUEST: dict[str, Any] = {
    "title": "Meet Meridian",
    "description": "Freight, on time.",
    "keywords": ["freight", "logistics"],
    "author": "Ada Okafor",
    "robots": ["index", {"max-snippet": 20}],
    "canonicalUrl": "https://meridian.example/",
    "ogTitle": "Meridian",
    "ogDescription": "On time.",
    "ogImageAlt": "A lorry",
    "ogSiteName": "Meridian",
    "ogUrl": "https://meridian.example/og",
    "twitterTitle": "Meridian",
    "twitterDescription": "On time.",
    "twitterImageAlt": "A lorry",
    "twitterSite": "@meridian",
    "twitterCreator": "@ada",
    "themeColor": "#123456",
}

METADATA: dict[str, Any] = METADATA_REQUEST | {
    "ogImageUrl": "https://meridian.example/og.png",
    "ogImageFileId": "file_1",
    "twitterImageUrl": "https://meridian.example/t.png",
    "twitterImageFileId": "file_2",
}

ACTION_REQUEST: dict[str, Any] = {
    "purpose": "Book a demo",
    "buttonTitle": "Book",
    "actionType": "link",
    "url": "https://meridian.example/book",
    "actionId": "action_1",
}

WIDGET: dict[str, Any] = {
    "type": "logos",
    "title": "Trusted by",
    "logos": [
        {
            "image": {
                "altText": "Halden",
                "url": "https://halden.example/logo.svg",
                "fileId": "file_3",
                "assetId": "asset_1",
            }
        }
    ],
}

FOOTER: dict[str, Any] = {
    "id": "footer_1",
    "title": "Legal",
    "links": [{"text": "Imprint", "url": "https://meridian.example/imprint", "id": "link_1"}],
}

SCRIPT: dict[str, Any] = {
    "content": "console.log(1)",
    "enabled": True,
    "name": "Analytics",
    "description": "Counts visits",
}

PAGE: dict[str, Any] = {
    "actions": [ACTION_REQUEST | {"actionIndex": 0}],
    "actionCardWidgets": [WIDGET],
    "archivedAt": None,
    "audiencesCount": 12,
    "brandId": "brand_1",
    "createdAt": CREATED,
    "deletedAt": None,
    "footerLinks": [FOOTER],
    "name": "Freight landing",
    "pageContext": "Sells freight software.",
    "pageId": "page_1",
    "pageType": "inbound",
    "scripts": [SCRIPT],
    "status": "published",
    "tenantId": "tenant_1",
    "title": "Meet Meridian",
    "updatedAt": UPDATED,
    "headerActionId": "action_1",
    "metadata": METADATA,
}

PAGE_REQUEST: dict[str, Any] = {
    "actions": [ACTION_REQUEST],
    "actionCardWidgets": [WIDGET],
    "brandId": "brand_1",
    "name": "Freight landing",
    "pageContext": "Sells freight software.",
    "pageType": "sales_deck",
    "scripts": [SCRIPT],
    "footerLinks": [FOOTER],
    "headerActionId": "action_1",
    "metadata": METADATA_REQUEST,
}

VERSION: dict[str, Any] = {
    "archivedAt": None,
    "audienceId": "audience_1",
    "becameDraftAt": CREATED,
    "cancelledAt": None,
    "createdAt": CREATED,
    "isNewPageAgent": True,
    "obsoleteAt": None,
    "publishedAt": UPDATED,
    "queueDurationMs": 1250.5,
    "queuedAt": CREATED,
    "status": "published",
    "supplementaryContext": "Prefers short sentences.",
    "tenantId": "tenant_1",
    "versionId": "version_1",
    "versionNumber": 4,
}

AUDIENCE: dict[str, Any] = {
    "actionFormIdOverride": "form_1",
    "actionFormInstructionsOverride": "Ask for the fleet's size.",
    "actionUrlOverride": "https://meridian.example/fleet",
    "archivedAt": CREATED,
    "audienceId": "audience_1",
    "computedName": "Halden AS",
    "createdAt": CREATED,
    "customName": "Halden, Oslo",
    "effectiveName": "Halden, Oslo",
    "isNewPageAgent": False,
    "latestVersion": VERSION | {"versionId": "version_2", "versionNumber": 5, "status": "draft"},
    "publishedVersion": VERSION,
    "pageId": "page_1",
    "prospectId": "prospect_1",
    "prospectRouteKey": "halden",
    "supplementaryContext": "Prefers short sentences.",
    "tenantId": "tenant_1",
    "effectiveMetadata": METADATA,
    "metadataOverride": {"title": "For Halden"},
}

CHANGE: dict[str, Any] = {
    "changeId": "change_1",
    "previousValue": "Freight, on time.",
    "newValue": "Freight across Norway, on time.",
}

MESSAGE: dict[str, Any] = {
    "messageId": "message_1",
    "content": "Made it **shorter**.",
    "timestamp": 1_732_100_000_000,
    "hasSnapshot": True,
    "toolCalls": [
        {
            "id": "call_1",
            "name": "read_site",
            "arguments": {"url": "https://halden.example/"},
            "result": [1, "two", None],
            "error": "timed out",
        }
    ],
    "changes": [CHANGE],
    "contentParts": [{"type": "text", "text": "Made it **shorter**."}],
    "reasoning": "They asked for less.",
    "isInterrupted": False,
}

CONVERSATION: dict[str, Any] = {
    "conversation": {
        "conversationId": "conversation_1",
        "audienceId": "audience_1",
        "publishedMessageId": "message_1",
        "createdAt": CREATED,
        "updatedAt": UPDATED,
    },
    "messages": [MESSAGE],
    "context": {
        "audienceId": "audience_1",
        "pageId": "page_1",
        "tenantId": "tenant_1",
        "currentSupplementaryContext": "Prefers short sentences.",
        "currentMetaTitle": "Meet Meridian",
        "currentMetaDescription": "Freight, on time.",
        "currentMetaKeywords": "freight, logistics",
        "pageContext": "Sells freight software.",
    },
    "pendingChanges": [CHANGE],
}

PERSON: dict[str, Any] = {
    "personId": "prospect_01jd3z5q8ee8vsj3m2k9x7w4ab",
    "tenantId": "tenant_1",
    "name": "Ingrid Halden",
    "email": "ingrid@halden.example",
    "domain": "halden.example",
    "slug": "ingrid-halden",
    "phoneNumber": "+47 22 00 00 00",
    "linkedinProfileUrl": "https://linkedin.example/in/ingrid",
    "createdAt": CREATED,
    "updatedAt": UPDATED,
}

SUBSCRIPTION: dict[str, Any] = {
    "subscriptionId": "subscription_1",
    "url": "https://hooks.example/pressroom",
    "events": ["page.version.published", "form.submitted"],
    "active": True,
    "createdAt": CREATED,
    "updatedAt": UPDATED,
}
