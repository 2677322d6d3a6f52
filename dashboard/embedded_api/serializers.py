"""Serialize rows as JSON objects of the API. Planned dates are left out.

A row is a model instance or a named tuple from a compiled query. Field names come from the spec.
JSON columns are returned as the stored text, as parsing and writing them takes a third of a list's
time.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

import orjson
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpResponse

from dashboard.contract.metadata import Metadata
from dashboard.contract.pages import PageStatus
from dashboard.contract.wire import read_date, read_timestamp
from dashboard.embedded_api import models
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.lifecycle import Dates
from dashboard.embedded_api.models.pages import status_of_page
from dashboard.json_api.cursors import ListPage

JsonObject = dict[str, Any]
RowT = TypeVar("RowT", bound=Model)

PAGE_JSON = ("actions", "action_card_widgets", "footer_links", "scripts", "metadata")
AUDIENCE_JSON = ("metadata_override",)
CONVERSATION_JSON = ("messages", "pending_changes")
"""JSON columns that are returned as stored, like the two above."""


def select_columns(
    rows: "QuerySet[RowT]", *, texts: Iterable[str] = (), **more: Any
) -> "QuerySet[RowT, Any]":
    """Select all columns, the JSON columns in `texts` as text, and the expressions in `more`."""
    plain = [field.attname for field in rows.model._meta.concrete_fields if field.name not in texts]
    more = json_as_text(texts) | more
    selected: QuerySet[RowT, Any] = rows.annotate(**more).values_list(*plain, *more, named=True)
    return selected


def json_as_text(columns: Iterable[str]) -> dict[str, Cast]:
    """Return annotations of JSON columns as text, under the names that `_fragment` expects."""
    return {_text_name(name): Cast(name, TextField()) for name in columns}


def json_response(content: JsonObject, *, status: int = 200) -> HttpResponse:
    return HttpResponse(orjson.dumps(content), status=status, content_type="application/json")


def list_response(items: Sequence[JsonObject], page: ListPage) -> HttpResponse:
    fields = {"items": items, "totalCount": page.total_count, "hasMore": page.has_more}
    return json_response(fields | _without_none(nextCursor=page.next_cursor))


def page_json(row: Any, now: datetime) -> JsonObject:
    """Return a page. Publishing counts as an update. A new page's row has no audience count."""
    status = status_of_page(row, last_uuid7_of(now))
    published = row.published_at if status is PageStatus.PUBLISHED else None
    return {
        "actions": _fragment(row, "actions"),
        "actionCardWidgets": _fragment(row, "action_card_widgets"),
        "archivedAt": row.archived_at,
        "audiencesCount": getattr(row, "audiences_count", 0),
        "brandId": row.brand_id,
        "createdAt": row.created_at,
        "deletedAt": row.deleted_at,
        "footerLinks": _fragment(row, "footer_links"),
        "name": row.name,
        "pageContext": row.page_context,
        "pageId": row.id,
        "pageType": row.page_type,
        "scripts": _fragment(row, "scripts"),
        "status": status.value,
        "tenantId": row.tenant_id,
        "title": row.title,
        "updatedAt": max(row.updated_at, published or ""),
        **_without_none(headerActionId=row.header_action_id, metadata=_fragment(row, "metadata")),
    }


def version_json(row: Any, now: datetime) -> JsonObject:
    """Return a version. Its status is derived from its dates."""
    dates = Dates.of(row)
    come = dates.at(now)
    return {
        "archivedAt": come.archived_at,
        "audienceId": row.audience_id,
        "becameDraftAt": come.became_draft_at,
        "cancelledAt": come.cancelled_at,
        "createdAt": row.created_at,
        "isNewPageAgent": row.is_new_page_agent,
        "obsoleteAt": come.obsolete_at,
        "publishedAt": come.published_at,
        "queueDurationMs": dates.queue_duration_ms(now),
        "queuedAt": come.queued_at,
        "status": dates.status(now).value,
        "supplementaryContext": row.supplementary_context,
        "tenantId": row.tenant_id,
        "versionId": row.id,
        "versionNumber": row.version_number,
    }


def audience_json(row: Any, page: Any, now: datetime, *, latest: Any, live: Any) -> JsonObject:
    """Return an audience without the fields that have no value."""
    newest = version_json(latest, now) if latest else None
    published = version_json(live, now) if live and live is not latest else None
    return {
        "audienceId": row.id,
        "pageId": row.page_id,
        "tenantId": row.tenant_id,
        "createdAt": row.created_at,
        "isNewPageAgent": row.is_new_page_agent,
        **_without_none(
            actionFormIdOverride=row.action_form_id_override,
            actionFormInstructionsOverride=row.action_form_instructions_override,
            actionUrlOverride=row.action_url_override,
            archivedAt=row.archived_at,
            computedName=row.computed_name,
            customName=row.custom_name,
            effectiveName=row.custom_name or row.computed_name,
            prospectId=row.prospect_id,
            prospectRouteKey=row.prospect_route_key,
            supplementaryContext=row.supplementary_context,
            effectiveMetadata=_effective_fragment(row, page),
            metadataOverride=_fragment(row, "metadata_override"),
            latestVersion=newest,
            publishedVersion=newest if live is latest else published,
        ),
    }


def effective_metadata(audience: Any, page: Any) -> JsonObject:
    """Return the page's metadata with the audience's overrides. Source: our choice."""
    texts = _json_text(page, "metadata"), _json_text(audience, "metadata_override")
    metadata, override = (json.loads(text or "{}") for text in texts)
    return {**metadata, **override}


def conversation_json(row: models.Conversation, *, live: models.Version | None) -> JsonObject:
    """Return a conversation with its context, the current state of the audience and its page.

    `live` is the live version of the audience. The last published message is the last one before
    that version was created. Source: our choice.
    """
    audience = row.audience
    page = audience.page
    metadata = Metadata(**effective_metadata(audience, page))
    return {
        "conversation": {
            "conversationId": row.id,
            "audienceId": audience.id,
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
            **_without_none(publishedMessageId=_last_message_before(live, row) if live else None),
        },
        "messages": _fragment(row, "messages"),
        "pendingChanges": _fragment(row, "pending_changes"),
        "context": {
            "audienceId": audience.id,
            "pageId": page.id,
            "tenantId": audience.tenant_id,
            "currentSupplementaryContext": audience.supplementary_context or "",
            "currentMetaTitle": metadata.title or "",
            "currentMetaDescription": metadata.description or "",
            "currentMetaKeywords": ", ".join(metadata.keywords or []),
            "pageContext": page.page_context,
        },
    }


def _last_message_before(version: models.Version, row: models.Conversation) -> str | None:
    """Return the id of the last message before a version was created; None if there is none."""
    created = read_date(version.created_at)
    for message in reversed(json.loads(_json_text(row, "messages") or "[]")):
        sent = read_timestamp(message.get("timestamp"))
        if message.get("messageId") and created and sent and sent < created:
            return str(message["messageId"])
    return None


def person_json(row: Any) -> JsonObject:
    return {
        "personId": row.person_id,
        "tenantId": row.tenant_id,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        **_without_none(
            name=row.name or None,
            email=row.email,
            domain=row.domain,
            slug=row.slug,
            phoneNumber=row.phone_number,
            linkedinProfileUrl=row.linkedin_profile_url,
        ),
    }


def subscription_json(row: models.Subscription) -> JsonObject:
    return {
        "subscriptionId": row.id,
        "url": row.url,
        "events": row.events,
        "active": row.active,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def _without_none(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _text_name(column: str) -> str:
    return f"{column}_text"


def _json_text(row: Any, column: str) -> str | None:
    """Return the stored text of a JSON column, or serialize the column if the row lacks it."""
    if hasattr(row, _text_name(column)):
        return cast("str | None", getattr(row, _text_name(column)))
    # Unlike orjson, Python's json writes numbers of any size, as the database stores them.
    value = getattr(row, column)
    return None if value is None else json.dumps(value)


def _fragment(row: Any, column: str) -> orjson.Fragment | None:
    text = _json_text(row, column)
    return None if text is None else orjson.Fragment(text)


def _effective_fragment(audience: Any, page: Any) -> orjson.Fragment | None:
    """Return the effective metadata. If nothing is overridden, it is the page's stored text."""
    if _json_text(audience, "metadata_override") is None:
        return _fragment(page, "metadata")
    effective = effective_metadata(audience, page)
    return orjson.Fragment(json.dumps(effective)) if effective else None
