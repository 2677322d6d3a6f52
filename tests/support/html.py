"""Parse HTML for tests: its elements, and its text.

By patterns, as Python's parser would take a tenth of the time of all tests without a browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import Any

from django.test import Client

MARKUP = re.compile(r"""<!--.*?-->|<[/!]?[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>""", re.DOTALL | re.I)
"""A comment or a tag, whose attributes may hold any character."""
START_TAG = re.compile(
    r"""<!--.*?-->|<(?P<tag>[a-z][^\s/>]*)(?P<attributes>(?:[^"'>]|"[^"]*"|'[^']*')*)>""",
    re.DOTALL | re.I,
)
ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
"""Its name, and its value in double quotes, in single ones or in none."""


@dataclass
class Element:
    """One start tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)


def elements(html: str, tag: str = "") -> list[Element]:
    """Return the elements of some HTML, in order; of one tag only, if given."""
    return [element for element in _parsed(html) if tag in ("", element.tag)]


@lru_cache(maxsize=4)
def _parsed(html: str) -> tuple[Element, ...]:
    """Return all elements, kept for a while: a test looks at one page from several sides."""
    return tuple(_start_tags(html))


def _start_tags(html: str) -> Iterator[Element]:
    place = 0
    while match := START_TAG.search(html, place):
        place = match.end()
        if not match["tag"]:
            continue  # A comment.
        tag = match["tag"].lower()
        attributes = {
            name.lower(): unescape("".join(values))
            for name, *values in ATTRIBUTE.findall(match["attributes"])
        }
        yield Element(tag, attributes)
        if tag in ("script", "style"):  # Their content is no markup.
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
