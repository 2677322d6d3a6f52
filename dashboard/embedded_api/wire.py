"""Rows as the wire has them: the contract's models, with dates that lie ahead held back."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse

from dashboard.contract import audiences, conversations, pages, people, webhooks
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.metadata import Metadata
from dashboard.contract.wire import WireModel
from dashboard.embedded_api import models
from dashboard.embedded_api.cursors import Part
from dashboard.embedded_api.marks import last_mark_of

_AnyList = ListEnvelope[Any]
"""Kept: a model that nobody holds is made anew each time it is named."""


def answer(content: WireModel, *, status: int = 200) -> HttpResponse:
    """Return a success. Only what was set is written: an optional field may be absent."""
    body = content.model_dump_json(by_alias=True, exclude_unset=True)
    return HttpResponse(body, status=status, content_type="application/json")


def answer_list(items: Iterable[WireModel], part: Part[Any]) -> HttpResponse:
    """Return a list's answer. The items are ours and right: they are not looked at again."""
    cursor: dict[str, Any] = _given(next_cursor=part.next_cursor)
    return answer(
        _AnyList.model_construct(
            items=list(items), total_count=part.total_count, has_more=part.has_more, **cursor
        )
    )


@dataclass(frozen=True)
class Wire:
    """Writes rows as they are at one moment."""

    now: datetime

    def page(self, row: models.Page, *, audiences_count: int) -> pages.Page:
        """Return a page. It was updated when it was published, too."""
        until = last_mark_of(self.now)
        published = row.published_at if row.status_at(until) == pages.PageStatus.PUBLISHED else None
        return pages.Page(
            actions=row.actions,
            action_card_widgets=row.action_card_widgets,
            archived_at=row.archived_at,
            audiences_count=audiences_count,
            brand_id=row.brand_id,
            created_at=row.created_at,
            deleted_at=row.deleted_at,
            footer_links=row.footer_links,
            name=row.name,
            page_context=row.page_context,
            page_id=row.id,
            page_type=row.page_type,
            scripts=row.scripts,
            status=row.status_at(until).value,
            tenant_id=row.tenant_id,
            title=row.title,
            updated_at=max(row.updated_at, published or ""),
            **_given(header_action_id=row.header_action_id, metadata=row.metadata),
        )

    def version(self, row: models.Version) -> audiences.AudienceVersion:
        """Return a version, with the status that follows from its dates."""
        dates = row.dates
        come = dates.at(self.now)
        return audiences.AudienceVersion(
            archived_at=come.archived_at,
            audience_id=row.audience_id,
            became_draft_at=come.became_draft_at,
            cancelled_at=come.cancelled_at,
            created_at=row.created_at,
            is_new_page_agent=row.is_new_page_agent,
            obsolete_at=come.obsolete_at,
            published_at=come.published_at,
            queue_duration_ms=dates.queue_duration_ms(self.now),
            queued_at=come.queued_at,
            status=dates.status(self.now).value,
            supplementary_context=row.supplementary_context,
            tenant_id=row.tenant_id,
            version_id=row.id,
            version_number=row.version_number,
        )

    def audience(
        self,
        row: models.Audience,
        page: models.Page,
        *,
        latest: models.Version | None,
        live: models.Version | None,
    ) -> audiences.Audience:
        """Return an audience; fields without a value are absent."""
        return audiences.Audience(
            audience_id=row.id,
            page_id=row.page_id,
            tenant_id=row.tenant_id,
            created_at=row.created_at,
            is_new_page_agent=row.is_new_page_agent,
            **_given(
                action_form_id_override=row.action_form_id_override,
                action_form_instructions_override=row.action_form_instructions_override,
                action_url_override=row.action_url_override,
                archived_at=row.archived_at,
                computed_name=row.computed_name,
                custom_name=row.custom_name,
                effective_name=row.custom_name or row.computed_name,
                prospect_id=row.prospect_id,
                prospect_route_key=row.prospect_route_key,
                supplementary_context=row.supplementary_context,
                effective_metadata=effective_metadata(row, page) or None,
                metadata_override=row.metadata_override,
                latest_version=self.version(latest) if latest else None,
                published_version=self.version(live) if live else None,
            ),
        )


def effective_metadata(audience: models.Audience, page: models.Page) -> dict[str, Any]:
    """Return the page's metadata with the audience's laid over it (our choice)."""
    return {**(page.metadata or {}), **(audience.metadata_override or {})}


def conversation(row: models.Conversation) -> conversations.Conversation:
    """Return a conversation with its context: what is true now of the audience and its page."""
    audience = row.audience
    page = audience.page
    metadata = Metadata(**effective_metadata(audience, page))
    return conversations.Conversation(
        conversation=conversations.ConversationFacts(
            conversation_id=row.id,
            audience_id=audience.id,
            created_at=row.created_at,
            updated_at=row.updated_at,
            **_given(published_message_id=row.published_message_id),
        ),
        messages=row.messages,
        pending_changes=row.pending_changes,
        context=conversations.ConversationContext(
            audience_id=audience.id,
            page_id=page.id,
            tenant_id=audience.tenant_id,
            current_supplementary_context=audience.supplementary_context or "",
            current_meta_title=metadata.title or "",
            current_meta_description=metadata.description or "",
            current_meta_keywords=", ".join(metadata.keywords or []),
            page_context=page.page_context,
        ),
    )


def person(row: models.Person) -> people.Person:
    """Return a person; fields without a value are absent."""
    return people.Person(
        person_id=row.id,
        tenant_id=row.tenant_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        **_given(
            name=row.name or None,
            email=row.email,
            domain=row.domain,
            slug=row.slug,
            phone_number=row.phone_number,
            linkedin_profile_url=row.linkedin_profile_url,
        ),
    )


def subscription(row: models.Subscription) -> webhooks.WebhookSubscription:
    """Return a webhook subscription."""
    return webhooks.WebhookSubscription(
        subscription_id=row.id,
        url=row.url,
        events=row.events,
        active=row.active,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value; the others are left out."""
    return {name: value for name, value in fields.items() if value is not None}
