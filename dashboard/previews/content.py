"""What visitors may see of a page and its audience, and how other sites show a link to it."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.functional import cached_property

from dashboard.contract.audiences import Audience
from dashboard.contract.metadata import FIELDS, Metadata
from dashboard.contract.pages import Action, PageItem
from dashboard.previews import widths
from dashboard.texts import is_link

_HOST = re.compile(r"https://(?:[^/?#]*@)?([^/?#]+)", re.IGNORECASE)


class Picture(NamedTuple):
    url: str
    alt: str
    url_path: str
    """Path of the field on the wire, as are all paths."""
    alt_path: str


class CardText(NamedTuple):
    text: str
    source: str
    """Page, Override or Effective; "None" if there is no text."""
    field: str
    """Metadata field that the text is from; "" for the page's own title."""
    box: widths.TextBox

    @property
    def drawn(self) -> str:
        return widths.fit(self.text, self.box)

    @property
    def is_cut(self) -> bool:
        return self.drawn != " ".join(self.text.split())

    @property
    def size(self) -> str:
        """Width of the text and of its box: `743 of 600 px`."""
        taken = f"{widths.text_width(self.text, self.box.font_size):,.0f}"
        lines = f" in {self.box.lines} lines" if self.box.lines > 1 else ""
        return f"{taken} of {self.box.width * self.box.lines:,} px{lines}"


NO_TEXT = CardText("", "None", "", widths.SITE)


class LinkCard(NamedTuple):
    """A link to the page, as a search engine or a social network shows it."""

    site: CardText
    title: CardText
    description: CardText
    image: CardText = NO_TEXT
    alt: CardText = NO_TEXT

    @property
    def site_name(self) -> str:
        """A URL is formatted as a search engine does: `pages.example › fleet`."""
        address = re.split("[?#]", self.site.text.partition("://")[2])[0]
        return " › ".join(filter(None, address.split("/"))) or self.site.text


@dataclass(frozen=True)
class PageContent:
    page: PageItem
    audience: Audience | None = None

    @property
    def actions_in_order(self) -> list[Action]:
        """The actions by `actionIndex`; those without one come last, in the order sent."""
        return sorted(
            self.page.actions, key=lambda a: (a.action_index is None, a.action_index or 0)
        )

    @cached_property
    def metadata(self) -> dict[str, tuple[str, str]]:
        """The texts in effect and their sources, by field name on the wire.

        The API doesn't document how overrides take effect, so what it calls effective wins.
        """
        audience = self.audience or Audience()
        page, override = _texts(self.page.metadata), _texts(audience.metadata_override)
        effective = _texts(audience.effective_metadata)
        in_effect = page | override | effective
        # If a text is in several of them, the last one is its source.
        sources = {"Effective": effective, "Page": page, "Override": override}
        return {
            name: (text, source)
            for source, texts in sources.items()
            for name, text in texts.items()
            if text == in_effect[name]
        }

    @cached_property
    def pictures(self) -> list[Picture]:
        """All pictures that have a URL: the logos of cards, then the one of the social card."""
        pictures = [
            Picture(logo.image.url, logo.image.alt_text or "", f"{path}.url", f"{path}.altText")
            for card_place, card in enumerate(self.page.action_card_widgets)
            for place, logo in enumerate(card.logos or [])
            if (path := f"actionCardWidgets.{card_place}.logos.{place}.image")
            if logo.image and logo.image.url
        ]
        image, alt = self.social_card.image, self.social_card.alt
        path = f"metadata.{image.field}"
        return [*pictures, Picture(image.text, alt.text, path, path)] if image.text else pictures

    @cached_property
    def hosts(self) -> dict[str, str]:
        """The hosts of the pictures that browsers load over https, by URL."""
        links = [picture.url for picture in self.pictures if is_link(picture.url)]
        return {url: match[1] for url in links if (match := _HOST.match(url))}

    @property
    def search_result(self) -> LinkCard:
        """The page in a search engine's results (our choice: metadata, then the title)."""
        title = self._text("title", box=widths.SEARCH_TITLE, default=self.page.title)
        description = self._text("description", box=widths.SEARCH_DESCRIPTION)
        return LinkCard(self._text("canonicalUrl"), title, description)

    @property
    def social_card(self) -> LinkCard:
        """A shared link (our choice: Open Graph, Twitter, then the page's own metadata)."""
        titles = "ogTitle", "twitterTitle", "title"
        descriptions = "ogDescription", "twitterDescription", "description"
        image = self._text("ogImageUrl", "twitterImageUrl")
        return LinkCard(
            self._text("ogSiteName", "ogUrl", "canonicalUrl"),
            self._text(*titles, box=widths.SOCIAL_TITLE, default=self.page.title),
            self._text(*descriptions, box=widths.SOCIAL_DESCRIPTION),
            image,
            self._text(image.field.replace("Url", "Alt")),
        )

    @property
    def metadata_not_drawn(self) -> list[str]:
        """Names of the metadata fields that the preview doesn't draw in its cards."""
        drawn = {text.field for text in (*self.search_result, *self.social_card)}
        drawn |= {"canonicalUrl", "description", "themeColor"}
        return [name for name in FIELDS if name not in drawn]

    def _text(self, *fields: str, box: widths.TextBox = widths.SITE, default: str = "") -> CardText:
        """Return the first of these metadata fields that is set, else the default."""
        for field in fields:
            if field in self.metadata:
                return CardText(*self.metadata[field], field, box)
        return CardText(default, "Page", "", box) if default else NO_TEXT


def _texts(metadata: Metadata | None) -> dict[str, str]:
    wire = metadata.to_wire() if metadata else {}
    return {name: value for name in FIELDS if isinstance(value := wire.get(name), str) and value}
