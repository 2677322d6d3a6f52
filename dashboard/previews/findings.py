"""Problems in the links, texts and pictures of a page. Pure.

They never block a publish: they are the same for every version.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.previews.content import PageContent, opens

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
    findings = [
        *_action_findings(content),
        *_card_findings(content),
        *_footer_findings(content),
        *_text_findings(content),
        *_picture_findings(content),
    ]
    return sorted(findings, key=lambda finding: not finding.is_serious)


def _action_findings(content: PageContent) -> Iterator[PageFinding]:
    titles = Counter(action.button_title for action in content.actions if action.button_title)
    for place, action in enumerate(content.actions):
        name, path = _quoted(action.button_title), f"actions.{place}"
        if titles.pop(action.button_title or "", 1) > 1:
            yield PageFinding(f"{path}.buttonTitle", "Two buttons with one title", name)
        yield from _dead_link(f"{path}.url", f"Button {name}", action.url)
    override = content.action_url_override
    yield from _dead_link("actionUrlOverride", "Action URL of this audience", override)


def _card_findings(content: PageContent) -> Iterator[PageFinding]:
    for place, card in enumerate(content.cards):
        if not card.logos and (card.title or card.type):
            path, name = f"actionCardWidgets.{place}.title", f"Card {_quoted(card.title)}"
            yield PageFinding(path, "Empty card", f"{name} has no logos.")


def _footer_findings(content: PageContent) -> Iterator[PageFinding]:
    for group_place, group in enumerate(content.footer_links):
        for place, link in enumerate(group.links or []):
            path = f"footerLinks.{group_place}.links.{place}.url"
            name = f"Footer, {_quoted(link.text)}"
            if link.text and not link.url:
                yield PageFinding(path, "Link without a URL", name, is_serious=True)
            yield from _dead_link(path, name, link.url)


def _dead_link(path: str, name: str, url: str | None) -> Iterator[PageFinding]:
    if url and not opens(url):
        detail = f"{name}: {_shortened(url)}"
        yield PageFinding(path, "Link that visitors can’t open", detail, is_serious=True)


def _text_findings(content: PageContent) -> Iterator[PageFinding]:
    search, social = content.search_result, content.social_card
    if not search.description.text:
        detail = "Search engines choose a text of the page."
        yield PageFinding("metadata.description", "No description", detail)
    texts = [("Search title", search.title), ("Search description", search.description)]
    # Don't report the cut of a text that a card borrows from another field.
    own = (("Social title", social.title), ("Social description", social.description))
    texts += [(name, text) for name, text in own if text.field.startswith(("og", "twitter"))]
    for name, text in texts:
        if text.is_cut:
            yield PageFinding(f"metadata.{text.field or 'title'}", f"{name} is cut", text.size)


def _picture_findings(content: PageContent) -> Iterator[PageFinding]:
    for picture in content.pictures:
        name = _quoted(picture.alt) if picture.alt else _shortened(picture.url)
        if not picture.alt:
            yield PageFinding(picture.alt_path, "Picture without alternative text", name)
        if picture.url.lower().startswith("http:"):
            detail = f"{name}. Browsers may not load it."
            yield PageFinding(picture.url_path, "Picture over http", detail)
        elif not picture.host:
            yield PageFinding(picture.url_path, "Picture that can’t load", _shortened(picture.url))


def _quoted(name: str | None) -> str:
    return f"“{_shortened(name)}”" if name else "without a title"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…"
