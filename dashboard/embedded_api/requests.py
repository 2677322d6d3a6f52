"""What the service accepts: the contract's requests, with unknown fields refused."""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from ninja import Query
from pydantic import AfterValidator, ConfigDict, Field

from dashboard.contract import audiences, metadata, pages, webhooks

# Unknown fields are refused, and our own names of fields (`page_context`) are unknown to the wire.
_CLOSED = ConfigDict(extra="forbid", populate_by_name=False)
# RFC 3986: a percent sign is followed by two hexadecimal digits, and there is one fragment at most.
_CHARACTER = r"(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=\[\]]|%[0-9A-Fa-f]{2})"
_URI = rf"^[Hh][Tt][Tt][Pp][Ss]?://{_CHARACTER}+(?:#{_CHARACTER}*)?$"


def _absent() -> Any:
    """Stand for a field that was not sent: it may be left out, yet null is not its value."""
    return None


def _web_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_web = bool(re.fullmatch(_URI, text) and parts.hostname and parts.port != 0)
    except ValueError:
        is_web = False
    if not is_web:
        raise ValueError("must be an absolute http or https address with a host")
    return text


def _no_duplicates(events: list[webhooks.EventName]) -> list[webhooks.EventName]:
    if len(set(events)) < len(events):
        raise ValueError("must not name an event twice")
    return events


WebAddress = Annotated[
    str,
    AfterValidator(_web_address),
    Field(json_schema_extra={"format": "uri", "pattern": _URI}),
]
Events = Annotated[
    list[Annotated[webhooks.EventName, Field(strict=False)]],
    AfterValidator(_no_duplicates),
    Field(json_schema_extra={"uniqueItems": True}),
]
Cursor = Annotated[
    str, Query(description="`nextCursor` of the part before; absent or empty for the first part.")
]
Limit = Annotated[
    float,
    Query(
        ge=1,
        allow_inf_nan=False,
        description="How many items: 1 or more; above 200 is read as 200, a fraction is dropped.",
    ),
]
SearchText = Annotated[
    str,
    # By itself: next to another annotation ninja loses what it says.
    Query(
        description="Every word of it, in any case, must be somewhere in the name, email, domain, "
        "slug or phone number. Absent or blank matches all."
    ),
]


class NewAction(pages.ActionRequest):
    """An action of a page to create. An empty `actionId` is filled."""

    model_config = _CLOSED


class NewImage(pages.Image):
    """An image of a page to create."""

    model_config = _CLOSED


class NewLogo(pages.Logo):
    """A logo of a page to create."""

    model_config = _CLOSED

    image: NewImage | None = None


class NewActionCardWidget(pages.ActionCardWidget):
    """An action card of a page to create."""

    model_config = _CLOSED

    logos: list[NewLogo] | None = None  # type: ignore[assignment]  # frozen, so narrower is safe


class NewFooterLink(pages.FooterLink):
    """A footer link of a page to create. An empty or absent `id` is filled."""

    model_config = _CLOSED


class NewFooterLinkGroup(pages.FooterLinkGroup):
    """A group of footer links of a page to create. An empty or absent `id` is filled."""

    model_config = _CLOSED

    links: list[NewFooterLink] | None = None  # type: ignore[assignment]  # as above


class NewScript(pages.Script):
    """A script of a page to create."""

    model_config = _CLOSED


class NewMetadata(metadata.MetadataRequest):
    """Metadata of a page to create."""

    model_config = _CLOSED


class NewPage(pages.PageRequest):
    """The body of operation 2."""

    model_config = _CLOSED

    actions: list[NewAction]  # type: ignore[assignment]  # as above, and so below
    action_card_widgets: list[NewActionCardWidget]  # type: ignore[assignment]
    page_type: Annotated[pages.PageType, Field(strict=False)] = pages.PageType.INBOUND
    scripts: list[NewScript]  # type: ignore[assignment]
    footer_links: list[NewFooterLinkGroup] | None = None  # type: ignore[assignment]
    metadata: NewMetadata | None = None


class Publication(audiences.PublishRequest):
    """The body of operation 5, which may be left out as a whole."""

    model_config = _CLOSED

    operation_key: str = Field(default_factory=_absent, min_length=1, max_length=128)


class SubscriptionChange(webhooks.SubscriptionPatch):
    """The body of operation 9: only what is sent is changed, and null is no value of a field."""

    model_config = _CLOSED

    url: WebAddress = Field(default_factory=_absent)
    events: Events = Field(default_factory=_absent)  # type: ignore[assignment]  # as above
    active: bool = Field(default_factory=_absent)
