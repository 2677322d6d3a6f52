"""Pages: operations 1, 2 and 3."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from dashboard.contract.metadata import Metadata, MetadataRequest
from dashboard.contract.resource import Resource
from dashboard.contract.wire import Count, DateText, Identifier, Number, WireModel
from dashboard.texts import is_blank


class PageType(StrEnum):
    """The spec's page types. A response may name another, which is shown by that name."""

    INBOUND = "inbound"
    OUTBOUND = "outbound"
    CALL_FOLLOWUP = "call_followup"
    SALES_DECK = "sales_deck"
    CUSTOM = "custom"


class PageStatus(StrEnum):
    """The spec's page statuses; transitions are not shown."""

    ARCHIVED = "archived"
    DRAFT = "draft"
    PUBLISHED = "published"


class Action(WireModel):
    """An action button, as returned. Required flags: not shown, so each may be absent."""

    action_id: str | None = None
    action_index: Number | None = None
    purpose: str | None = None
    button_title: str | None = None
    action_type: str | None = None
    url: str | None = None


class Image(WireModel):
    alt_text: str | None = None
    url: str | None = None
    file_id: str | None = None
    asset_id: str | None = None


class Logo(WireModel):
    image: Image | None = None


class ActionCardWidget(WireModel):
    """An action card. Allowed values of `type`: not shown."""

    type: str | None = None
    title: str | None = None
    logos: list[Logo] | None = None


class FooterLink(WireModel):
    text: str | None = None
    url: str | None = None
    id: str | None = None


class FooterLinkGroup(WireModel):
    id: str | None = None
    title: str | None = None
    links: list[FooterLink] | None = None


class Script(WireModel):
    """A script of a page: text to be shown, never run."""

    content: str | None = None
    enabled: bool | None = None
    name: str | None = None
    description: str | None = None


class PageItem(Resource):
    """A page in a list.

    Whether list items carry `pageType` and `status` is not shown, so both may be absent.
    """

    actions: list[Action]
    action_card_widgets: list[ActionCardWidget]
    archived_at: DateText | None
    audiences_count: Count
    brand_id: str
    created_at: DateText
    deleted_at: DateText | None
    footer_links: list[FooterLinkGroup] | None = None
    name: str
    page_context: str
    page_id: Annotated[Identifier, Field(min_length=1)]
    page_type: str | None = None
    scripts: list[Script]
    status: str | None = None
    tenant_id: str
    title: str
    updated_at: DateText
    header_action_id: str | None = None
    metadata: Metadata | None = None

    @property
    def visible_name(self) -> str:
        """The name, or "" if it has nothing to see."""
        return "" if is_blank(self.name) else self.name


class Page(PageItem):
    """A page by itself: operations 2 and 3. Source: spec, Page."""

    page_type: str
    status: str


class ActionRequest(WireModel):
    """An action in a create request: all strings, no `actionIndex`."""

    purpose: str
    button_title: str
    action_type: str
    url: str
    action_id: str


class PageRequest(WireModel):
    """The body of operation 2.

    The request shape of widgets and scripts is not shown: we send what the service returns.
    """

    actions: list[ActionRequest]
    action_card_widgets: list[ActionCardWidget]
    brand_id: str
    name: str = Field(min_length=1)
    page_context: str = Field(min_length=1)
    page_type: str = PageType.INBOUND.value
    scripts: list[Script]
    footer_links: list[FooterLinkGroup] | None = None
    header_action_id: str | None = None
    metadata: MetadataRequest | None = None
