"""Audiences and their versions: operations 4 and 5."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from dashboard.contract.metadata import Metadata
from dashboard.contract.resource import Resource
from dashboard.contract.wire import (
    ESSENTIAL,
    MAX_SAFE_INTEGER,
    DateText,
    Identifier,
    Number,
    WireModel,
)
from dashboard.texts import is_blank


class VersionStatus(StrEnum):
    """The spec's version statuses; transitions are not shown."""

    ARCHIVED = "archived"
    CANCELLED = "cancelled"
    DRAFT = "draft"
    PENDING = "pending"
    PROCESSING = "processing"
    PUBLISHED = "published"
    QUEUED = "queued"


class AudienceVersion(Resource):
    """One version of an audience. Source: spec, AudienceVersion."""

    archived_at: DateText | None
    audience_id: Identifier
    became_draft_at: DateText | None
    cancelled_at: DateText | None
    created_at: DateText
    is_new_page_agent: bool
    obsolete_at: DateText | None
    published_at: DateText | None
    queue_duration_ms: Number | None
    queued_at: DateText | None
    status: str
    supplementary_context: str | None
    tenant_id: str
    version_id: Annotated[Identifier, Field(min_length=1)]
    version_number: Annotated[int, Field(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
    """The spec gives no lower bound; ours mirrors the upper one, the safe integers of JSON."""

    @property
    def publish_state(self) -> dict[str, str | None]:
        """The fields that publishing changes, as on the wire: stored to compare with later ones."""
        return {"status": self.status, "queuedAt": self.queued_at, "publishedAt": self.published_at}


def text_of(version: AudienceVersion | None) -> str:
    """Return the supplementary context; "" if the version or its text is missing."""
    return (version.supplementary_context if version else "") or ""


class Audience(Resource):
    """An audience of a page. Required and nullable fields are not shown: each may be absent."""

    action_form_id_override: str | None = None
    action_form_instructions_override: str | None = None
    action_url_override: str | None = None
    archived_at: str | None = None
    audience_id: Annotated[Identifier | None, ESSENTIAL] = None
    computed_name: str | None = None
    created_at: str | None = None
    custom_name: str | None = None
    effective_name: str | None = None
    is_new_page_agent: bool | None = None
    # If an unreadable one were left out, a draft or a live version would seem not to exist.
    latest_version: Annotated[AudienceVersion | None, ESSENTIAL] = None
    published_version: Annotated[AudienceVersion | None, ESSENTIAL] = None
    page_id: str | None = None
    prospect_id: Identifier | None = None
    prospect_route_key: str | None = None
    supplementary_context: str | None = None
    tenant_id: str | None = None
    effective_metadata: Metadata | None = None
    metadata_override: Metadata | None = None

    @property
    def name(self) -> str | None:
        """The effective, else the custom, else the computed name (our choice).

        A name with nothing to see doesn't count.
        """
        names = (self.effective_name, self.custom_name, self.computed_name)
        return next((name for name in names if not is_blank(name)), None)


class PublishRequest(WireModel):
    """The body of operation 5."""

    operation_key: str | None = Field(default=None, min_length=1, max_length=128)
