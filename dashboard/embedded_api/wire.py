"""Rows as the JSON objects of the wire, with dates that lie ahead held back.

A row is one of a table or of a statement: whatever has the columns. The names are the spec's.
What a column keeps as JSON goes out as the text it is: to read fifty pages' actions, scripts and
links, only to write them again, took a third of the list's time.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import orjson
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpResponse

from dashboard.contract.metadata import Metadata
from dashboard.contract.pages import PageStatus
from dashboard.embedded_api import models
from dashboard.embedded_api.cursors import Part
from dashboard.embedded_api.lifecycle import END_OF_TIME, Dates
from dashboard.embedded_api.marks import last_mark_of
from dashboard.embedded_api.models.pages import status_of_page

JsonObject = dict[str, Any]
RowT = TypeVar("RowT", bound=Model)

OF_PAGE = ("actions", "action_card_widgets", "footer_links", "scripts", "metadata")
OF_AUDIENCE = ("metadata_override",)
OF_CONVERSATION = ("messages", "pending_changes")
"""Columns of JSON that the wire shows as they are."""


def shown(
    rows: "QuerySet[RowT]", *, texts: Iterable[str] = (), **more: Any
) -> "QuerySet[RowT, Any]":
    """Return all columns of the rows, those of JSON named in `texts` as texts, and `more`."""
    plain = [field.attname for field in rows.model._meta.concrete_fields if field.name not in texts]
    more = texts_of(texts) | more
    found: QuerySet[RowT, Any] = rows.annotate(**more).values_list(*plain, *more, named=True)
    return found


def texts_of(columns: Iterable[str]) -> dict[str, Cast]:
    """Return what columns of JSON are kept as, under the names by which the wire looks for it."""
    return {_text(name): Cast(name, TextField()) for name in columns}


def answer(content: JsonObject | orjson.Fragment, *, status: int = 200) -> HttpResponse:
    """Return a success."""
    return HttpResponse(orjson.dumps(content), status=status, content_type="application/json")


def answer_list(items: Sequence[JsonObject | orjson.Fragment], part: Part) -> HttpResponse:
    """Return a list's answer."""
    return answer(envelope(items, part))


def envelope(items: Sequence[JsonObject | orjson.Fragment], part: Part) -> JsonObject:
    """Return a part of a list, which has those items."""
    counted = {"items": items, "totalCount": part.total_count, "hasMore": part.has_more}
    return counted | _given(nextCursor=part.next_cursor)


@dataclass(frozen=True)
class Wire:
    """Writes rows as they are at one moment."""

    now: datetime

    def page(self, row: Any, *, audiences_count: int) -> JsonObject:
        """Return a page. It was updated when it was published, too."""
        status = status_of_page(row, last_mark_of(self.now))
        published = row.published_at if status is PageStatus.PUBLISHED else None
        return {
            "actions": _json(row, "actions"),
            "actionCardWidgets": _json(row, "action_card_widgets"),
            "archivedAt": row.archived_at,
            "audiencesCount": audiences_count,
            "brandId": row.brand_id,
            "createdAt": row.created_at,
            "deletedAt": row.deleted_at,
            "footerLinks": _json(row, "footer_links"),
            "name": row.name,
            "pageContext": row.page_context,
            "pageId": row.id,
            "pageType": row.page_type,
            "scripts": _json(row, "scripts"),
            "status": status.value,
            "tenantId": row.tenant_id,
            "title": row.title,
            "updatedAt": max(row.updated_at, published or ""),
            **_given(headerActionId=row.header_action_id, metadata=_json(row, "metadata")),
        }

    def version(self, row: Any) -> JsonObject:
        """Return a version, with the status that follows from its dates."""
        dates = Dates.of(row)
        come = dates.at(self.now)
        return {
            "archivedAt": come.archived_at,
            "audienceId": row.audience_id,
            "becameDraftAt": come.became_draft_at,
            "cancelledAt": come.cancelled_at,
            "createdAt": row.created_at,
            "isNewPageAgent": row.is_new_page_agent,
            "obsoleteAt": come.obsolete_at,
            "publishedAt": come.published_at,
            "queueDurationMs": dates.queue_duration_ms(self.now),
            "queuedAt": come.queued_at,
            "status": dates.status(self.now).value,
            "supplementaryContext": row.supplementary_context,
            "tenantId": row.tenant_id,
            "versionId": row.id,
            "versionNumber": row.version_number,
        }

    def audience(
        self,
        row: Any,
        page: Any,
        *,
        latest: Any,
        live: Any,
    ) -> JsonObject:
        """Return an audience; fields without a value are absent."""
        newest = self.version(latest) if latest else None
        published = self.version(live) if live and live is not latest else None
        return {
            "audienceId": row.id,
            "pageId": row.page_id,
            "tenantId": row.tenant_id,
            "createdAt": row.created_at,
            "isNewPageAgent": row.is_new_page_agent,
            **_given(
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
                effectiveMetadata=_effective(row, page),
                metadataOverride=_json(row, "metadata_override"),
                latestVersion=newest,
                publishedVersion=newest if live is latest else published,
            ),
        }


FOR_GOOD = Wire(END_OF_TIME)
"""Writes rows of which nothing is planned: as they are and stay."""


def effective_metadata(audience: Any, page: Any) -> JsonObject:
    """Return the page's metadata with the audience's laid over it (our choice)."""
    override = _value(audience, "metadata_override")
    return {**(_value(page, "metadata") or {}), **(override or {})}


def conversation(row: models.Conversation) -> JsonObject:
    """Return a conversation with its context: what is true now of the audience and its page."""
    audience = row.audience
    page = audience.page
    metadata = Metadata(**effective_metadata(audience, page))
    return {
        "conversation": {
            "conversationId": row.id,
            "audienceId": audience.id,
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
            **_given(publishedMessageId=row.published_message_id),
        },
        "messages": _json(row, "messages"),
        "pendingChanges": _json(row, "pending_changes"),
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


def person(row: Any) -> JsonObject:
    """Return a person; fields without a value are absent."""
    return {
        "personId": row.id,
        "tenantId": row.tenant_id,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        **_given(
            name=row.name or None,
            email=row.email,
            domain=row.domain,
            slug=row.slug,
            phoneNumber=row.phone_number,
            linkedinProfileUrl=row.linkedin_profile_url,
        ),
    }


def subscription(row: models.Subscription) -> JsonObject:
    """Return a webhook subscription."""
    return {
        "subscriptionId": row.id,
        "url": row.url,
        "events": row.events,
        "active": row.active,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def _given(**fields: Any) -> JsonObject:
    """Return the fields that have a value; the others are left out."""
    return {name: value for name, value in fields.items() if value is not None}


def _json(row: Any, column: str) -> orjson.Fragment | None:
    """Return a column of JSON as its text: the one that was read, or that of a row just made."""
    if not hasattr(row, _text(column)):
        return _written(getattr(row, column))
    text = getattr(row, _text(column))
    return None if text is None else orjson.Fragment(text)


def _value(row: Any, column: str) -> Any:
    """Return what a column of JSON holds."""
    if not hasattr(row, _text(column)):
        return getattr(row, column)
    text = getattr(row, _text(column))
    return None if text is None else json.loads(text)


def _effective(audience: Any, page: Any) -> orjson.Fragment | None:
    """Return the effective metadata; most audiences override nothing, and have the page's text."""
    if _json(audience, "metadata_override"):
        return _written(effective_metadata(audience, page) or None)
    return _json(page, "metadata")


def _written(value: Any) -> orjson.Fragment | None:
    # Python's own writer takes numbers of any size, as the table does.
    return None if value is None else orjson.Fragment(json.dumps(value))


def _text(column: str) -> str:
    return f"{column}_text"
