"""What visitors may see of a page and its audience, and how other sites show a link to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.utils.functional import cached_property

from dashboard.contract.audiences import Audience
from dashboard.contract.metadata import FIELDS, Metadata
from dashboard.contract.pages import Action, ActionCardWidget, FooterLinkGroup, Image, PageItem
from dashboard.previews.widths import (
    SEARCH_DESCRIPTION,
    SEARCH_TITLE,
    SOCIAL_DESCRIPTION,
    SOCIAL_TITLE,
    Space,
    fit,
    text_width,
)

_OPENS = re.compile(r"(?:https?://[^\s/?#\\]|mailto:[^\s@]+@|tel:[+\d(])[^\s\\]*", re.IGNORECASE)
_UNSAFE = re.compile("[\x00-\x20\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def opens(url: str) -> bool:
    """Return whether a visitor's browser opens a URL: http, https, mailto or tel."""
    return _OPENS.fullmatch(url) is not None and not _UNSAFE.search(url)


@dataclass(frozen=True)
class Picture:
    url: str
    alt: str
    url_path: str
    """Path of the field on the wire, as are all paths."""
    alt_path: str

    @property
    def host(self) -> str:
        """Host of the picture; "" unless it can be loaded over https."""
        is_loadable = self.url.lower().startswith("https://") and opens(self.url)
        return self.url[8:].partition("/")[0].rpartition("@")[2] if is_loadable else ""


@dataclass(frozen=True)
class CardText:
    field: str
    """Metadata field that the text is from; "" for the page's own title."""
    text: str
    space: Space

    @property
    def drawn(self) -> str:
        return fit(self.text, self.space)

    @property
    def is_cut(self) -> bool:
        return self.drawn.endswith("…") and self.drawn != " ".join(self.text.split())

    @property
    def size(self) -> str:
        """Width of the text and of its space: `743 of 600 px`."""
        taken = f"{text_width(self.text, self.space.font_size):,.0f}"
        lines = f" in {self.space.lines} lines" if self.space.lines > 1 else ""
        return f"{taken} of {self.space.width * self.space.lines:,} px{lines}"


@dataclass(frozen=True)
class LinkCard:
    """A link to the page, as a search engine or a social network shows it."""

    site: str
    title: CardText
    description: CardText


@dataclass(frozen=True)
class PageContent:
    title: str
    actions: Sequence[Action] = ()
    cards: Sequence[ActionCardWidget] = ()
    footer_links: Sequence[FooterLinkGroup] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata by field name on the wire, without empty fields."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Source of each metadata field: Page, Override or Effective."""
    action_url_override: str = ""

    @classmethod
    def of(cls, page: PageItem, audience: Audience | None = None) -> "PageContent":
        content = page.actions, page.action_card_widgets, page.footer_links or ()
        override = audience.action_url_override if audience else None
        return cls(page.title, *content, *_metadata(page, audience), override or "")

    @property
    def actions_in_order(self) -> list[Action]:
        """The actions by `actionIndex`; those without one come last, in the order sent."""
        return sorted(self.actions, key=lambda a: (a.action_index is None, a.action_index or 0))

    @property
    def theme_color(self) -> str:
        """The color if it is a name or hexadecimal, else ""."""
        color = self.metadata.get("themeColor", "")
        return color if re.fullmatch("#[0-9a-fA-F]{3,8}|[a-zA-Z]+", color) else ""

    @cached_property
    def logos(self) -> list[list[Picture]]:
        """The pictures of each card, including those without a URL."""
        return [
            [
                _picture(logo.image, f"actionCardWidgets.{card_place}.logos.{place}.image")
                for place, logo in enumerate(card.logos or [])
            ]
            for card_place, card in enumerate(self.cards)
        ]

    @property
    def social_picture(self) -> Picture | None:
        for name in ("ogImage", "twitterImage"):
            if url := self.metadata.get(f"{name}Url"):
                alt = self.metadata.get(f"{name}Alt", "")
                return Picture(url, alt, f"metadata.{name}Url", f"metadata.{name}Alt")
        return None

    @property
    def pictures(self) -> list[Picture]:
        """All pictures that have a URL."""
        logos = [picture for row in self.logos for picture in row if picture.url]
        return [*logos, self.social_picture] if self.social_picture else logos

    @property
    def drawn_metadata(self) -> set[str]:
        """Names of the metadata fields that the preview draws, mostly in cards."""
        search, social, picture = self.search_result, self.social_card, self.social_picture
        texts = (search.title, search.description, social.title, social.description)
        paths = (picture.url_path, picture.alt_path) if picture else ()
        site = "ogSiteName" if "ogSiteName" in self.metadata else "ogUrl"
        names = {path.removeprefix("metadata.") for path in paths} | {text.field for text in texts}
        return {"canonicalUrl", "description", "themeColor", site, *names}

    @property
    def search_result(self) -> LinkCard:
        """The page in a search engine's results (our choice: metadata, then the title)."""
        return LinkCard(
            _breadcrumb(self.metadata.get("canonicalUrl", "")),
            self._text(SEARCH_TITLE, "title", default=self.title),
            self._text(SEARCH_DESCRIPTION, "description"),
        )

    @property
    def social_card(self) -> LinkCard:
        """A shared link (our choice: Open Graph, Twitter, then the page's own metadata)."""
        url = self.metadata.get("ogUrl") or self.metadata.get("canonicalUrl", "")
        return LinkCard(
            self.metadata.get("ogSiteName") or _breadcrumb(url),
            self._text(SOCIAL_TITLE, "ogTitle", "twitterTitle", "title", default=self.title),
            self._text(SOCIAL_DESCRIPTION, "ogDescription", "twitterDescription", "description"),
        )

    def _text(self, space: Space, *names: str, default: str = "") -> CardText:
        """Return the first of these metadata fields that is set, else the default."""
        name = next((name for name in names if name in self.metadata), "")
        return CardText(name, self.metadata.get(name, default), space)


def _picture(image: Image | None, path: str) -> Picture:
    image = image or Image()
    return Picture(image.url or "", image.alt_text or "", f"{path}.url", f"{path}.altText")


def _metadata(page: PageItem, audience: Audience | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the metadata in effect, and where each field comes from.

    The API doesn't document how overrides take effect, so the values it calls effective win.
    """
    own = _values(page.metadata)
    override = _values(audience.metadata_override if audience else None)
    effective = _values(audience.effective_metadata if audience else None)
    values = own | override | effective
    sources = dict.fromkeys(values, "Effective")
    for source, texts in (("Page", own), ("Override", override)):
        sources |= {name: source for name, text in values.items() if text == texts.get(name)}
    return values, sources


def _values(metadata: Metadata | None) -> dict[str, str]:
    wire = metadata.to_wire() if metadata else {}
    return {name: value for name in FIELDS if isinstance(value := wire.get(name), str) and value}


def _breadcrumb(url: str) -> str:
    """Format a URL as a search engine does: `pages.example › fleet`."""
    try:
        parts = urlsplit(url)
        steps = [parts.hostname or "", *filter(None, parts.path.split("/"))]
    except ValueError:
        return url
    return " › ".join(filter(None, steps)) if parts.hostname else url
