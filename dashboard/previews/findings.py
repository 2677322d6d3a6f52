"""Problems in the links, texts and pictures of a page. Pure.

They never block a publish: they are the same for every version.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.template.defaultfilters import truncatechars

from dashboard.previews.content import PageContent
from dashboard.texts import is_link

MAX_NAME = 60
"""Maximum characters of a name or a URL in a finding."""


@dataclass(frozen=True)
class PageFinding:
    path: str
    """Path of the field on the wire. The form that creates a page uses the same names."""
    headline: str
    detail: str = ""
    is_serious: bool = False

    @property
    def piece(self) -> str:
        """The part of the preview that the finding is about."""
        start, _, name = self.path.partition(".")
        if start == "metadata":
            return "social" if name.startswith(("og", "twitter")) else "search"
        return "actions" if start == "actionUrlOverride" else start


def page_findings(content: PageContent) -> list[PageFinding]:
    """Return the problems of a page, serious ones first."""
    parts = (_link_findings, _button_and_card_findings, _text_findings, _picture_findings)
    findings = [finding for part in parts for finding in part(content)]
    return sorted(findings, key=lambda finding: not finding.is_serious)


def _link_findings(content: PageContent) -> Iterator[PageFinding]:
    links = [
        (f"actions.{place}.url", f"Button {_quoted(action.button_title)}", action.url)
        for place, action in enumerate(content.page.actions)
    ]
    if content.audience:
        override = content.audience.action_url_override
        links.append(("actionUrlOverride", "Action URL of this audience", override))
    for group_place, group in enumerate(content.page.footer_links or []):
        for place, link in enumerate(group.links or []):
            path = f"footerLinks.{group_place}.links.{place}.url"
            links.append((path, f"Footer, {_quoted(link.text)}", link.url))
            if link.text and not link.url:
                yield PageFinding(path, "Link without a URL", links[-1][1], is_serious=True)
    for path, name, url in links:
        if url and not is_link(url):
            detail = f"{name}: {truncatechars(url, MAX_NAME)}"
            yield PageFinding(path, "Link that visitors can’t open", detail, is_serious=True)


def _button_and_card_findings(content: PageContent) -> Iterator[PageFinding]:
    titles = [action.button_title for action in content.page.actions]
    for place, title in enumerate(titles):
        if title and titles[:place].count(title) == 1:
            path = f"actions.{place}.buttonTitle"
            yield PageFinding(path, "Two buttons with one title", _quoted(title))
    for place, card in enumerate(content.page.action_card_widgets):
        if not card.logos and (card.title or card.type):
            detail = f"Card {_quoted(card.title)} has no logos."
            yield PageFinding(f"actionCardWidgets.{place}.title", "Empty card", detail)


def _text_findings(content: PageContent) -> Iterator[PageFinding]:
    search, social = content.search_result, content.social_card
    if not search.description.text:
        detail = "Search engines choose a text of the page."
        yield PageFinding("metadata.description", "No description", detail)
    texts = [("Search title", search.title), ("Search description", search.description)]
    # A social card may borrow the texts of the search result. They're reported there.
    own = [("Social title", social.title), ("Social description", social.description)]
    texts += [(name, text) for name, text in own if text.field.startswith(("og", "twitter"))]
    for name, text in texts:
        if text.is_cut:
            yield PageFinding(f"metadata.{text.field or 'title'}", f"{name} is cut", text.size)


def _picture_findings(content: PageContent) -> Iterator[PageFinding]:
    for picture in content.pictures:
        name = _quoted(picture.alt or picture.url.rstrip("/").rpartition("/")[2])
        if not picture.alt:
            yield PageFinding(picture.alt_path, "Picture without alternative text", name)
        if picture.url.lower().startswith("http:"):
            detail = f"{name}. Browsers may not load it."
            yield PageFinding(picture.url_path, "Picture over http", detail)
        elif picture.url not in content.hosts:
            detail = truncatechars(picture.url, MAX_NAME)
            yield PageFinding(picture.url_path, "Picture that can’t load", detail)


def _quoted(name: str | None) -> str:
    return f"“{truncatechars(name, MAX_NAME)}”" if name else "without a title"
