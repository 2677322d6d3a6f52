"""Requests of the service: the contract's, with unknown fields refused."""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from ninja import Query
from pydantic import AfterValidator, ConfigDict, Field

from dashboard.contract import audiences, metadata, pages, webhooks

# Unknown fields are refused, and so are our snake_case names of fields.
_FORBID_EXTRA = ConfigDict(extra="forbid", populate_by_name=False)
# RFC 3986: a percent sign precedes two hexadecimal digits, and there is at most one fragment.
_CHARACTER = r"(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=\[\]]|%[0-9A-Fa-f]{2})"
_URI = rf"^[Hh][Tt][Tt][Pp][Ss]?://{_CHARACTER}+(?:#{_CHARACTER}*)?$"


def _omitted() -> Any:
    """Return the default of a field that may be omitted but not null."""
    return None


def _http_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_valid = bool(re.fullmatch(_URI, text) and parts.hostname and parts.port != 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must be an absolute http or https URL with a host")
    return text


def _no_duplicates(events: list[webhooks.EventName]) -> list[webhooks.EventName]:
    if len(set(events)) < len(events):
        raise ValueError("must not contain duplicate events")
    return events


HttpUrl = Annotated[
    str,
    AfterValidator(_http_url),
    Field(json_schema_extra={"format": "uri", "pattern": _URI}),
]
Events = Annotated[
    list[Annotated[webhooks.EventName, Field(strict=False)]],
    AfterValidator(_no_duplicates),
    Field(json_schema_extra={"uniqueItems": True}),
]
Cursor = Annotated[
    str, Query(description="The `nextCursor` of the previous page; omit it for the first page.")
]
Limit = Annotated[
    float,
    Query(
        ge=1,
        allow_inf_nan=False,
        description="Number of items: 1 or more. Above 200 means 200; fractions are rounded down.",
    ),
]
MAX_WORDS = 100
"""Words of a search: each is a condition of the query, and databases limit those."""
SearchText = Annotated[
    str,
    # Alone: ninja ignores it next to another annotation.
    Query(
        description="Every word must occur in the name, email, domain, slug or phone number. Case "
        "and accents are ignored. Absent or blank matches everyone. At most "
        f"{MAX_WORDS} words."
    ),
]


class NewAction(pages.ActionRequest):
    """An action of a page to create. An empty `actionId` is filled."""

    model_config = _FORBID_EXTRA


class NewImage(pages.Image):
    """An image of a page to create."""

    model_config = _FORBID_EXTRA


class NewLogo(pages.Logo):
    """A logo of a page to create."""

    model_config = _FORBID_EXTRA

    image: NewImage | None = None


class NewActionCardWidget(pages.ActionCardWidget):
    """An action card of a page to create."""

    model_config = _FORBID_EXTRA

    logos: list[NewLogo] | None = None  # type: ignore[assignment]  # frozen, so narrower is safe


class NewFooterLink(pages.FooterLink):
    """A footer link of a page to create. An empty or absent `id` is filled."""

    model_config = _FORBID_EXTRA


class NewFooterLinkGroup(pages.FooterLinkGroup):
    """A group of footer links of a page to create. An empty or absent `id` is filled."""

    model_config = _FORBID_EXTRA

    links: list[NewFooterLink] | None = None  # type: ignore[assignment]  # as above


class NewScript(pages.Script):
    """A script of a page to create."""

    model_config = _FORBID_EXTRA


class NewMetadata(metadata.MetadataRequest):
    """Metadata of a page to create."""

    model_config = _FORBID_EXTRA


class NewPage(pages.PageRequest):
    """The body of operation 2."""

    model_config = _FORBID_EXTRA

    actions: list[NewAction]  # type: ignore[assignment]  # as above, and so below
    action_card_widgets: list[NewActionCardWidget]  # type: ignore[assignment]
    page_type: Annotated[pages.PageType, Field(strict=False)] = pages.PageType.INBOUND
    scripts: list[NewScript]  # type: ignore[assignment]
    footer_links: list[NewFooterLinkGroup] | None = None  # type: ignore[assignment]
    metadata: NewMetadata | None = None


class Publication(audiences.PublishRequest):
    """The body of operation 5, which may be left out as a whole."""

    model_config = _FORBID_EXTRA

    operation_key: str = Field(default_factory=_omitted, min_length=1, max_length=128)


class SubscriptionChange(webhooks.SubscriptionPatch):
    """The body of operation 9: only what is sent is changed, and null is no value of a field."""

    model_config = _FORBID_EXTRA

    url: HttpUrl = Field(default_factory=_omitted)
    events: Events = Field(default_factory=_omitted)  # type: ignore[assignment]  # as above
    active: bool = Field(default_factory=_omitted)
