"""Requests of the service, which reject unknown fields, and the page that a request creates."""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from ninja import Query
from pydantic import AfterValidator, ConfigDict, Field, model_validator

from dashboard.contract import audiences, metadata, pages, people, webhooks
from dashboard.contract.wire import WireModel
from dashboard.embedded_api.ids import new_id, uuid7_now
from dashboard.embedded_api.models import Page, Tenant
from dashboard.outgoing_webhooks import MAX_URL_CHARACTERS, ForbiddenURLError, parse_url

# RFC 3986: two hexadecimal digits follow a percent sign, and there is at most one fragment.
_CHARACTER = r"(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=\[\]]|%[0-9A-Fa-f]{2})"
_URI = rf"^[Hh][Tt][Tt][Pp][Ss]?://{_CHARACTER}+(?:#{_CHARACTER}*)?$"


def _omitted() -> Any:
    """Return the default for a field that may be omitted but not null."""
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


def _receiver_url(text: str) -> str:
    try:
        parse_url(text)
    except ForbiddenURLError as error:
        raise ValueError(str(error).removesuffix(".")) from None
    return text


def _matching(pattern: str, message: str) -> AfterValidator:
    """Return a validator that requires a whole text to match a pattern."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(message)
        return text

    return AfterValidator(check)


def _no_duplicates(events: list[webhooks.EventName]) -> list[webhooks.EventName]:
    if len(set(events)) < len(events):
        raise ValueError("must not contain duplicate events")
    return events


HttpUrl = Annotated[
    str, AfterValidator(_http_url), Field(json_schema_extra={"format": "uri", "pattern": _URI})
]
ReceiverUrl = Annotated[
    HttpUrl, AfterValidator(_receiver_url), Field(max_length=MAX_URL_CHARACTERS)
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
"""Maximum number of words in a search. Each is a condition, and databases limit those."""
SearchText = Annotated[
    str,
    # This must be the only annotation. Ninja ignores it next to another one.
    Query(
        description="Every word must occur in the name, email, domain, slug or phone number. Case "
        "and accents are ignored. Absent or blank matches everyone. At most "
        f"{MAX_WORDS} words."
    ),
]
NO_NUL = r"^[^\x00]*$"
PATTERNS = {
    "cursor": r"^(?:\.?[A-Za-z0-9_-]+:[A-Za-z0-9_-]{43})?$",
    "query": rf"^\s*(?:[^\s\x00]+\s+){{0,{MAX_WORDS - 1}}}[^\s\x00]*\s*$",
}
"""Patterns of parameters in the OpenAPI document. Ninja's Query would also enforce them."""


class Strict(WireModel):
    """Refuses unknown fields, and so our snake_case names of fields. To be the last base."""

    model_config = ConfigDict(extra="forbid", populate_by_name=False)


class NewAction(pages.ActionRequest, Strict):
    """An action of a page to create. An empty `actionId` is filled."""


class NewImage(pages.Image, Strict):
    """An image of a page to create."""


class NewLogo(pages.Logo, Strict):
    """A logo of a page to create."""

    image: NewImage | None = None


class NewActionCardWidget(pages.ActionCardWidget, Strict):
    """An action card of a page to create."""

    logos: list[NewLogo] | None = None  # type: ignore[assignment]  # frozen, so narrower is safe


class NewFooterLink(pages.FooterLink, Strict):
    """A footer link of a page to create. An empty or absent `id` is filled."""


class NewFooterLinkGroup(pages.FooterLinkGroup, Strict):
    """A group of footer links of a page to create. An empty or absent `id` is filled."""

    links: list[NewFooterLink] | None = None  # type: ignore[assignment]  # as above


class NewScript(pages.Script, Strict):
    """A script of a page to create."""


class NewMetadata(metadata.MetadataRequest, Strict):
    """Metadata of a page to create."""


class NewPage(pages.PageRequest, Strict):
    """The body of operation 2."""

    actions: list[NewAction]  # type: ignore[assignment]  # as above, and so below
    action_card_widgets: list[NewActionCardWidget]  # type: ignore[assignment]
    page_type: Annotated[pages.PageType, Field(strict=False)] = pages.PageType.INBOUND
    scripts: list[NewScript]  # type: ignore[assignment]
    footer_links: list[NewFooterLinkGroup] | None = None  # type: ignore[assignment]
    metadata: NewMetadata | None = None


class StoredMetadata(metadata.Metadata, Strict):
    """Metadata as the service returns it, with the addresses and files of images."""


class EditedPage(NewPage):
    """A page as changed in the admin: unlike a new one, it has a title and may have images."""

    title: str = Field(min_length=1)
    metadata: StoredMetadata | None = None  # type: ignore[assignment]


class EditedAudience(Strict):
    """An audience as changed in the admin. The spec has no request that makes one."""

    metadata_override: StoredMetadata | None = None


class PublishBody(audiences.PublishRequest, Strict):
    """The body of operation 5, which may be left out as a whole."""

    operation_key: str = Field(default_factory=_omitted, min_length=1, max_length=128)


class SubscriptionChange(webhooks.SubscriptionPatch, Strict):
    """The body of operation 9: only what is sent is changed, and null is no value of a field."""

    url: ReceiverUrl = Field(default_factory=_omitted)
    events: Events = Field(default_factory=_omitted)  # type: ignore[assignment]  # as above
    active: bool = Field(default_factory=_omitted)


_PERSON_ID = _matching(
    r"prospect_[a-z0-9]{26}", "must be prospect_ and 26 lowercase letters or digits"
)
_DOMAIN = _matching(r"[^\s/@]*", "must be a domain, such as example.com")


class NewPerson(people.Person, Strict):
    """A person of an import or of the admin. The spec has no request that makes one: our choice.

    The pattern of `personId` is the spec's (Person).
    """

    person_id: Annotated[str, _PERSON_ID] | None = None
    email: Annotated[str, _matching(r"[^@\s]+@[^@\s]+", "must be an email address")] | None = None
    domain: Annotated[str, _DOMAIN] | None = None
    linkedin_profile_url: HttpUrl | None = None

    @model_validator(mode="after")
    def _is_somebody(self) -> "NewPerson":
        if not self.model_fields_set:
            raise ValueError("has no value")
        return self


def new_page(tenant: Tenant, page: NewPage) -> Page:
    """Return an unsaved draft. Source of the defaults: our choice; the spec shows none."""
    mark = uuid7_now()
    columns = page_columns(page)
    title = (columns["metadata"] or {}).get("title") or page.name
    brand_id = page.brand_id or tenant.brand_id
    dates = {"created_at": mark, "updated_at": mark}
    return Page(tenant=tenant, **columns | {"title": title, "brand_id": brand_id} | dates)


def page_columns(page: NewPage) -> dict[str, Any]:
    """Return the column values of a request. Empty ids are filled."""
    actions = [
        {**_dump(action), "actionId": action.action_id or new_id("act"), "actionIndex": index}
        for index, action in enumerate(page.actions)
    ]
    return {
        "brand_id": page.brand_id,
        "name": page.name,
        "page_context": page.page_context,
        "page_type": page.page_type,
        "actions": actions,
        "action_card_widgets": [_dump(widget) for widget in page.action_card_widgets],
        "footer_links": [_footer_links(group) for group in page.footer_links or []],
        "scripts": [_dump(script) for script in page.scripts],
        "header_action_id": page.header_action_id,
        "metadata": _dump(page.metadata) if page.metadata else None,
    }


def _footer_links(group: NewFooterLinkGroup) -> dict[str, Any]:
    links = [{**_dump(link), "id": link.id or new_id("link")} for link in group.links or []]
    return {**_dump(group), "id": group.id or new_id("footer"), "links": links}


def _dump(model: WireModel) -> dict[str, Any]:
    """Return the fields that were sent. Null means the same as an omitted field."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
