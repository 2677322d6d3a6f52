"""Parse the elements and the text of HTML for tests.

Uses patterns, because Python's parser would take a tenth of the time of all tests without a
browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any

from django.test import Client
from django.utils.functional import cached_property

MARKUP = re.compile(r"""<!--.*?-->|<[/!]?[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>""", re.DOTALL | re.I)
"""A comment, or a tag whose attributes may contain any character."""
START_TAG = re.compile(
    r"""<!--.*?-->|<(?P<tag>[a-z][^\s/>]*)(?P<attributes>(?:[^"'>]|"[^"]*"|'[^']*')*)>""",
    re.DOTALL | re.I,
)
ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
"""An attribute's name, and its value in double quotes, single quotes or none."""


@dataclass
class Element:
    """One start tag."""

    tag: str
    source: str
    """The source of its attributes."""

    @cached_property
    def attributes(self) -> dict[str, str]:
        """Its attributes by name. Parsed on demand, as tests need few."""
        return {
            name.lower(): unescape("".join(values))
            for name, *values in ATTRIBUTE.findall(self.source)
        }


def elements(html: str, tag: str = "") -> list[Element]:
    """Return the elements of some HTML in order, optionally of one tag only."""
    return [element for element in _parsed(html) if tag in ("", element.tag)]


@lru_cache(maxsize=4)
def _parsed(html: str) -> tuple[Element, ...]:
    """Return all elements. Cached, as a test often checks the same page several times."""
    return tuple(_start_tags(html))


def _start_tags(html: str) -> Iterator[Element]:
    place = 0
    while match := START_TAG.search(html, place):
        place = match.end()
        if not match["tag"]:
            continue  # A comment.
        tag = match["tag"].lower()
        yield Element(tag, match["attributes"])
        if tag in ("script", "style"):  # Their content isn't markup.
            end = html.find(f"</{tag}", place)
            place = len(html) if end < 0 else end


def text(html: str) -> str:
    """Return the text of some HTML, with blanks collapsed."""
    return " ".join(unescape(MARKUP.sub("", html)).split())


def page_html(
    client: Client, url: str, target: str = "", *, status: int = 200, **headers: str
) -> str:
    """Return the HTML of a page, or of the partial that htmx targets."""
    if target:
        headers = {"HX-Request": "true", "HX-Target": target} | headers
    response = client.get(url, headers=headers or None)
    assert response.status_code == status, response.text[:500]
    return response.text


def page_text(client: Client, url: str) -> str:
    return text(page_html(client, url))


def response_text(response: Any) -> str:
    """Return the text of a response's page."""
    return text(response.text)
