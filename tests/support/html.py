"""Parse HTML for tests: its elements, and its text."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser

MARKUP = re.compile(r"""<!--.*?-->|<[/!]?[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>""", re.DOTALL | re.I)
"""A comment or a tag, whose attributes may hold any character."""


@dataclass
class Element:
    """One start tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))


def elements(html: str, tag: str = "") -> list[Element]:
    """Return the elements of some HTML, in order; of one tag only, if given."""
    return [element for element in _parsed(html) if tag in ("", element.tag)]


@lru_cache(maxsize=4)
def _parsed(html: str) -> tuple[Element, ...]:
    """A test looks at one page from several sides, and Python's parser is slow."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return tuple(reader.elements)


def text(html: str) -> str:
    """Return the text of some HTML, with blanks collapsed.

    By a pattern: Python's parser would take a tenth of the time of all tests without a browser.
    """
    return " ".join(unescape(MARKUP.sub("", html)).split())
