"""One page as it is read: its parts in their order, and how links to it may look."""

import re
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from dashboard.client.calls import path
from dashboard.contract.metadata import Metadata, MetadataRequest
from dashboard.contract.pages import Action, PageItem, Script
from dashboard.itself import Itself
from dashboard.web.metadata_fields import MetadataField, metadata_fields
from dashboard.web.untrusted import is_live

BODIES_KEPT = 16
"""As many as the client keeps answers."""


@dataclass(frozen=True)
class PageBody:
    """What the service says of a page, by the parts that are shown; the same said is equal."""

    page: PageItem = field(compare=False)
    curl: str
    """The request for it, as a line for a shell."""
    sent: str = field(init=False)
    """The page as JSON."""

    def __post_init__(self) -> None:
        sent = self.page.model_dump_json(by_alias=True, exclude_unset=True)
        object.__setattr__(self, "sent", sent)

    @property
    def actions(self) -> list[Action]:
        """The actions in their order."""
        return actions_in_order(self.page)

    @property
    def header_action(self) -> Action | None:
        """The action in the page's header."""
        return header_action(self.page)

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of its context."""
        return paragraphs(self.page.page_context)

    @property
    def metadata(self) -> list[MetadataField]:
        """Every field of its metadata."""
        return metadata_fields(self.page.metadata)

    @property
    def search_result(self) -> "LinkPreview":
        """How a search engine may show it."""
        return search_result(self.page.metadata, title=self.page.title)

    @property
    def social_card(self) -> "LinkPreview":
        """How a shared link may look."""
        return social_card(self.page.metadata, title=self.page.title)


@lru_cache(maxsize=BODIES_KEPT)
def page_body(page: Itself[PageItem], curl: str) -> PageBody:
    """Return the body of a page: while the service says the same of it, the same body."""
    return PageBody(page.thing, curl)


def actions_in_order(page: PageItem) -> list[Action]:
    """Return the actions by their `actionIndex`; those without one come last, as they came."""

    def place(action: Action) -> tuple[bool, float]:
        return action.action_index is None, action.action_index or 0

    return sorted(page.actions, key=place)


def header_action(page: PageItem) -> Action | None:
    """Return the action that `headerActionId` names, or None where it names none of them."""
    wanted = page.header_action_id
    return next((action for action in page.actions if wanted and action.action_id == wanted), None)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text: what blank lines part."""
    return [part.strip("\r\n") for part in re.split(r"\r?\n\s*\n", text) if part.strip()]


def language_of(script: Script) -> str:
    """Return the language to colour a script in. A guess, for its looks alone."""
    return "html" if (script.content or "").lstrip().startswith("<") else "javascript"


def curl_line(service_url: str, *segments: str) -> str:
    """Return the request of a GET as a line for a shell, with the key left out."""
    address = shlex.quote(service_url.rstrip("/") + path(*segments))
    return f'curl -H "x-api-key: $API_KEY" {address}'


@dataclass(frozen=True)
class LinkPreview:
    """How a link to a page may look to others, from the values alone."""

    address: str
    title: str
    description: str
    picture: str = ""
    """An address to open, never to be fetched unasked; empty where there is none."""


def search_result(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Return how a search engine may show the page (our choice: metadata, then the title)."""
    given = metadata or MetadataRequest()
    return LinkPreview(
        address=_address(given.canonical_url),
        title=given.title or title,
        description=given.description or "",
    )


def social_card(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Return how a shared link may look (our choice: Open Graph, Twitter, then the page's)."""
    given = metadata or MetadataRequest()
    return LinkPreview(
        address=given.og_site_name or _address(given.og_url or given.canonical_url),
        title=given.og_title or given.twitter_title or given.title or title,
        description=given.og_description or given.twitter_description or "",
        picture=next(filter(is_live, _pictures(given)), ""),
    )


def _pictures(metadata: MetadataRequest) -> list[str]:
    if not isinstance(metadata, Metadata):
        return []
    return [url for url in (metadata.og_image_url, metadata.twitter_image_url) if url]


def _address(url: str | None) -> str:
    """Return an address as a search engine writes it: `pages.example › fleet`."""
    try:
        parts = urlsplit(url or "")
        steps = [parts.hostname or "", *filter(None, parts.path.split("/"))]
    except ValueError:
        return url or ""
    return " › ".join(filter(None, steps)) if parts.hostname else url or ""
