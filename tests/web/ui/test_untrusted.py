"""Untrusted text is shown and inert."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.ui.markdown import LINK_REL, MAX_MARKDOWN, is_linkable, render_markdown
from dashboard.web.ui.markup import markdown, safe_link
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import elements, text

INERT = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "a": {"href", "rel"},
    "ol": {"start"},
    "p": {"class"},
    "pre": {"class"},
    "table": {"class"},
}


def assert_inert(html: str) -> None:
    for element in elements(html):
        assert element.tag in INERT
        assert set(element.attributes) <= ATTRIBUTES.get(element.tag, set())
        if "href" in element.attributes:
            assert is_linkable(element.attributes["href"])
            assert element.attributes["rel"] == LINK_REL
    html.encode()


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: ascii(payload)[:40])
def test_hostile_markdown_is_inert(payload: str) -> None:
    assert_inert(render_markdown(payload)[:2_000_000])


@given(st.lists(st.sampled_from([*"<>[]()!`*_|-#\n\"'&;:/= \t", *PAYLOADS[:53], "https://a.b"])))
def test_no_mix_of_attacks_is_more_than_text(fragments: list[str]) -> None:
    assert_inert(render_markdown("".join(fragments)))


def test_markdown_is_rendered() -> None:
    html = render_markdown("**bold** ~~gone~~\n\n1. one\n\n|a|\n|-|\n|b|\n\n```\n1 < 2\n```")
    assert {element.tag for element in elements(html)} >= {"strong", "s", "ol", "table", "pre"}
    assert "1 &lt; 2" in html


def test_code_is_one_verbatim_block() -> None:
    assert render_markdown("```js\n  a < b\n```") == '<pre class="code wrap">  a &lt; b\n</pre>\n'


def test_a_heading_is_a_bold_line_outside_the_outline() -> None:
    assert render_markdown("# Plan *now*") == "<p><strong>Plan <em>now</em></strong></p>\n"


@pytest.mark.parametrize(
    "url", ["https://ok.example/a?b=c", "HTTP://ok.example", "mailto:a@b.example"]
)
def test_a_known_scheme_is_a_link(url: str) -> None:
    [link] = elements(safe_link(url), "a")
    assert link.attributes == {"href": url, "rel": LINK_REL}
    assert elements(render_markdown(f"[x]({url})"), "a")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " https://ok.example",
        "https://ok.example/\u202egnp",
        "https:\\\\evil.example",
        "java\nscript:alert(1)",
        "//evil.example",
        "/accounts/logout/",
        "https://",
        "ftp://ok.example",
        "ok.example",
    ],
)
def test_any_other_url_is_text(url: str) -> None:
    html = safe_link(url)
    assert not elements(html, "a")
    assert text(html) == " ".join(url.split())


@given(st.text())
def test_no_text_breaks_out_of_a_link(url: str) -> None:
    assert {element.tag for element in elements(safe_link(url))} <= {"a", "bdi", "span"}


def test_a_missing_url_is_announced_as_empty() -> None:
    assert "empty" in safe_link(None)


def test_a_long_text_says_how_much_is_displayed() -> None:
    words = text(render_markdown("word " * 10_000))
    assert words.endswith("Showing the first 20,000 of 50,000 characters.")
    assert len(words) < MAX_MARKDOWN + 100


@pytest.mark.parametrize("part", ["[", "![", "*a ", "_*", "[a](", "`", "<", "> ", "|a"])
def test_a_text_made_to_be_slow_is_rendered_quickly(part: str) -> None:
    start = time.process_time()
    render_markdown(part * 30_000)
    # It takes ten milliseconds. A quadratic algorithm would take minutes.
    assert time.process_time() - start < 1


def test_untrusted_text_is_isolated_from_htmx_and_text_direction() -> None:
    [block, *_] = elements(markdown("x"))
    assert block.attributes == {"class": "prose", "dir": "auto", "hx-disable": ""}
