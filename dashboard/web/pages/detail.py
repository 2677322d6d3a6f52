"""Context of the page detail: its content in order, and previews of links to it."""

import re
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from dashboard.client.calls import path
from dashboard.contract.metadata import Metadata, MetadataRequest
from dashboard.contract.pages import Action, PageItem, Script
from dashboard.web.pages.metadata import MetadataField, metadata_fields
from dashboard.web.ui.markdown import is_linkable


@dataclass(frozen=True)
class PageBody:
    """A page's content, as the template shows it."""

    page: PageItem
    curl: str
    """The request for it as a shell command."""

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
        """A preview of it in a search engine's results."""
        return search_result(self.page.metadata, title=self.page.title)

    @property
    def social_card(self) -> "LinkPreview":
        """A preview of a shared link to it."""
        return social_card(self.page.metadata, title=self.page.title)


def actions_in_order(page: PageItem) -> list[Action]:
    """Return the actions by `actionIndex`; those without one come last, in the order sent."""
    return sorted(page.actions, key=lambda a: (a.action_index is None, a.action_index or 0))


def header_action(page: PageItem) -> Action | None:
    """Return the action that `headerActionId` names, or None."""
    wanted = page.header_action_id
    return next((action for action in page.actions if wanted and action.action_id == wanted), None)


def paragraphs(text: str) -> list[str]:
    """Split a text at blank lines."""
    return [part.strip("\r\n") for part in re.split(r"\r?\n\s*\n", text) if part.strip()]


def language_of(script: Script) -> str:
    """Guess the language for the syntax highlighting of a script."""
    return "html" if (script.content or "").lstrip().startswith("<") else "javascript"


def curl_command(service_url: str, *segments: str) -> str:
    """Return a GET request as a shell command, without the API key."""
    url = shlex.quote(service_url.rstrip("/") + path(*segments))
    return f'curl -H "x-api-key: $API_KEY" {url}'


@dataclass(frozen=True)
class LinkPreview:
    """A preview of a link to a page, derived from its metadata."""

    site: str
    """The site's name or a breadcrumb of the URL."""
    title: str
    description: str
    image_url: str = ""
    """A URL for the user to open, never fetched automatically; "" if there is none."""


def search_result(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Preview the page in a search engine's results (our choice: metadata, then the title)."""
    given = metadata or MetadataRequest()
    return LinkPreview(
        site=_breadcrumb(given.canonical_url),
        title=given.title or title,
        description=given.description or "",
    )


def social_card(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Preview a shared link (our choice: Open Graph, Twitter, then the page's own metadata)."""
    given = metadata or MetadataRequest()
    return LinkPreview(
        site=given.og_site_name or _breadcrumb(given.og_url or given.canonical_url),
        title=given.og_title or given.twitter_title or given.title or title,
        description=given.og_description or given.twitter_description or "",
        image_url=next(filter(is_linkable, _image_urls(given)), ""),
    )


def _image_urls(metadata: MetadataRequest) -> list[str]:
    if not isinstance(metadata, Metadata):
        return []
    return [url for url in (metadata.og_image_url, metadata.twitter_image_url) if url]


def _breadcrumb(url: str | None) -> str:
    """Format a URL as a search engine does: `pages.example › fleet`."""
    try:
        parts = urlsplit(url or "")
        steps = [parts.hostname or "", *filter(None, parts.path.split("/"))]
    except ValueError:
        return url or ""
    return " › ".join(filter(None, steps)) if parts.hostname else url or ""
