"""A browser that translates a page leaves the service's names and IDs unchanged."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.html import MARKUP, elements
from tests.support.seeding import seed_publication
from tests.web.every_page import PAGES, log_in_to_every_page

pytestmark = pytest.mark.django_db

NAME = re.compile(
    r"Fleet telematics|Brightwater|Company \d|Ada Lovelace|\b(page|aud|ver|whs|conv|ten)_\w+"
)
"""A name or an ID of the tests' service."""
WITHOUT_END = {"br", "circle", "hr", "img", "input", "link", "meta", "path", "rect", "use"}
NO_SENTENCES = {"option", "script", "style", "textarea", "title"}


def translated_texts(html: str) -> Iterator[str]:
    """Return the visible texts that a browser may translate."""
    inside: list[tuple[str, bool]] = []
    place = 0
    for markup in MARKUP.finditer(html):
        if not any(is_left_alone for _, is_left_alone in inside):
            yield unescape(html[place : markup.start()])
        place = markup.end()
        tag = markup[0]
        if tag.startswith("</"):
            while inside and inside.pop()[0] != tag[2:-1]:
                pass
        elif (starts := elements(tag)) and starts[0].tag not in WITHOUT_END:
            [start] = starts
            is_left_alone = (
                start.attributes.get("translate") == "no"
                or start.tag in NO_SENTENCES
                or "visually-hidden" in start.attributes.get("class", "")
            )
            inside.append((start.tag, is_left_alone))


def has_translated_name(html: str) -> set[str]:
    """Return the texts with a name that a browser may translate."""
    return {" ".join(text.split()) for text in translated_texts(html) if NAME.search(text)}


@pytest.fixture
def mia(fake_service: FakeService) -> Client:
    """Log in Mia, who may open every page."""
    seed_publication()
    return log_in_to_every_page(fake_service)


def test_no_name_of_the_service_is_translated(mia: Client) -> None:
    translated = {}
    for addresses in PAGES.values():
        for address in addresses:
            response = mia.get(address)
            if response["content-type"].startswith("text/html"):
                translated[address] = has_translated_name(response.text)
    assert {address: texts for address, texts in translated.items() if texts} == {}


@pytest.mark.parametrize(
    ("html", "is_translated"),
    [
        ("<p>Version 2 of Brightwater Foods</p>", True),
        ('<p>Version 2 of <b translate="no">Brightwater <i>Foods</i></b></p>', False),
        ('<p><b translate="no">Brightwater</b> Brightwater</p>', True),
    ],
)
def test_a_translated_name_is_seen(html: str, is_translated: bool) -> None:
    assert bool(has_translated_name(html)) is is_translated
