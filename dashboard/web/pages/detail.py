"""Context of the page detail: its content in order, its metadata, and previews of links to it."""

import re
import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.functional import cached_property

from dashboard.accounts.sessions import absolute_url
from dashboard.client.session import path
from dashboard.contract.metadata import FIELDS, Metadata, MetadataRequest
from dashboard.contract.pages import Action, PageItem, Script
from dashboard.service.reading import ReadResult
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.markdown import is_linkable

_COLOR = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)


@dataclass(frozen=True)
class MetadataField:
    name: str
    value: Any
    was_sent: bool

    @property
    def is_set(self) -> bool:
        return self.value not in (None, "", [])

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def is_link(self) -> bool:
        return self.name.endswith("Url")

    @property
    def color(self) -> str:
        is_color = self.name == "themeColor" and _COLOR.fullmatch(str(self.value))
        return str(self.value) if is_color else ""


@dataclass(frozen=True)
class PageBody:
    page: PageItem
    curl: str

    @cached_property
    def actions(self) -> list[Action]:
        """The actions by `actionIndex`; those without one come last, in the order sent."""
        return sorted(
            self.page.actions, key=lambda a: (a.action_index is None, a.action_index or 0)
        )

    @cached_property
    def header_action(self) -> Action | None:
        wanted = self.page.header_action_id
        named = (action for action in self.page.actions if action.action_id == wanted)
        return next(named, None) if wanted else None

    @cached_property
    def paragraphs(self) -> list[str]:
        parts = re.split(r"\r?\n\s*\n", self.page.page_context)
        return [part.strip("\r\n") for part in parts if part.strip()]

    @cached_property
    def metadata(self) -> list[MetadataField]:
        """Every metadata field of the spec in its order, including those not sent."""
        sent = self.page.metadata.to_wire() if self.page.metadata else {}
        return [MetadataField(name, sent.get(name), name in sent) for name in FIELDS]


def page_context(request: Request, reading: ReadResult[PageItem]) -> dict[str, Any]:
    page = reading.value
    service = settings.SERVICE_URL or absolute_url(request, "/")
    return {
        "here": "pages",
        "reading": reading,
        "page": page,
        "body": PageBody(page, curl_command(service, "pages", page.page_id)),
        "search_result": search_result(page.metadata, title=page.title),
        "social_card": social_card(page.metadata, title=page.title),
    }


def footer_link_count(page: PageItem) -> int:
    return sum(len(group.links or []) for group in page.footer_links or [])


def language_of(script: Script) -> str:
    return "html" if (script.content or "").lstrip().startswith("<") else "javascript"


def curl_command(service_url: str, *segments: str) -> str:
    """Return a GET request as a shell command, without the API key."""
    url = shlex.quote(service_url.rstrip("/") + path(*segments))
    return f'curl -H "x-api-key: $API_KEY" {url}'


@dataclass(frozen=True)
class LinkPreview:
    site: str
    """The site's name or a breadcrumb of the URL."""
    title: str
    description: str
    image_url: str = ""
    """A URL for the user to open, never fetched automatically; "" if there is none."""


def search_result(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Preview the page in a search engine's results (our choice: metadata, then the title)."""
    fields = metadata or MetadataRequest()
    return LinkPreview(
        site=_breadcrumb(fields.canonical_url),
        title=fields.title or title,
        description=fields.description or "",
    )


def social_card(metadata: MetadataRequest | None, *, title: str) -> LinkPreview:
    """Preview a shared link (our choice: Open Graph, Twitter, then the page's own metadata)."""
    fields = metadata or MetadataRequest()
    images = (fields.og_image_url, fields.twitter_image_url) if isinstance(fields, Metadata) else ()
    return LinkPreview(
        site=fields.og_site_name or _breadcrumb(fields.og_url or fields.canonical_url),
        title=fields.og_title or fields.twitter_title or fields.title or title,
        description=fields.og_description or fields.twitter_description or "",
        image_url=next((url for url in images if url and is_linkable(url)), ""),
    )


def _breadcrumb(url: str | None) -> str:
    """Format a URL as a search engine does: `pages.example › fleet`."""
    try:
        parts = urlsplit(url or "")
        steps = [parts.hostname or "", *filter(None, parts.path.split("/"))]
    except ValueError:
        return url or ""
    return " › ".join(filter(None, steps)) if parts.hostname else url or ""
