"""Context of a page's own page: its content in order, its metadata and its findings."""

import re
import shlex
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.functional import cached_property

from dashboard.accounts.sessions import absolute_url
from dashboard.client.session import path
from dashboard.contract.metadata import FIELDS
from dashboard.contract.pages import Action, PageItem, Script
from dashboard.previews.content import PageContent
from dashboard.previews.findings import page_findings
from dashboard.service.reading import ReadResult
from dashboard.web.ui.htmx import Request


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


@dataclass(frozen=True)
class PageBody:
    page: PageItem
    curl: str

    @cached_property
    def actions(self) -> list[Action]:
        return PageContent(self.page).actions_in_order

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
        """All metadata fields in the order of the spec, including those that weren't sent."""
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
        "tab": "overview",
        "findings": page_findings(PageContent(page)),
    }


def footer_link_count(page: PageItem) -> int:
    return sum(len(group.links or []) for group in page.footer_links or [])


def language_of(script: Script) -> str:
    return "html" if (script.content or "").lstrip().startswith("<") else "javascript"


def curl_command(service_url: str, *segments: str) -> str:
    """Return a GET request as a shell command, without the API key."""
    url = shlex.quote(service_url.rstrip("/") + path(*segments))
    return f'curl -H "x-api-key: $API_KEY" {url}'
