"""Highlighted JSON and code lose nothing and run nothing."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given

from dashboard.web.ui.highlighting import highlight_source
from dashboard.web.ui.markup import json_code
from tests.support.highlighted_json import JSON
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import elements


class _Text(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(html: str) -> str:
    return _Text(html).text


@given(JSON)
def test_highlighted_json_equals_the_source(value: Any) -> None:
    assert json.loads(text_of(json_code(value))) == value


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: ascii(payload)[:40])
def test_hostile_strings_are_text_in_a_highlighted_span(payload: str) -> None:
    html = json_code({payload: payload}) + highlight_source(payload, "html")
    assert {element.tag for element in elements(html)} == {"pre", "span"}
    assert all(set(element.attributes) <= {"class", "translate"} for element in elements(html))
    assert html.encode()


def test_names_strings_numbers_and_constants_have_their_classes() -> None:
    html = json_code({"a": ["x", 1, True, None]})
    assert '<span class="code-key">&quot;a&quot;</span>' in html
    assert '<span class="code-string">&quot;x&quot;</span>' in html
    assert '<span class="code-number">1</span>' in html
    assert '<span class="code-constant">true</span>' in html
    assert '<span class="code-constant">null</span>' in html


def test_a_script_is_highlighted_and_complete() -> None:
    source = "\n// note\nif (a < 1) { b('</script>') }\n\n"
    html = highlight_source(source, "javascript")
    assert text_of(html) == source
    assert '<span class="code-key">if</span>' in html
    assert '<span class="muted">// note</span>' in html


@pytest.mark.parametrize("language", ["", "nosuch", "../etc", "<b>"])
def test_an_unknown_language_is_plain_text(language: str) -> None:
    assert highlight_source("if (1 < 2)", language) == "if (1 &lt; 2)"


def test_a_reordering_character_is_shown_as_its_code() -> None:
    assert text_of(highlight_source("a\u202eb", "javascript")) == "a\\u202eb"


def test_a_long_text_says_how_much_is_displayed() -> None:
    html = json_code("x" * 200_000)
    assert "Showing the first 100,000 of 200,002 characters." in html
    assert len(html) < 101_000
