"""Text that others wrote: markdown made inert, and the few addresses that may become links.

No image, no class, no id, no attribute of ours survives; raw HTML is text. Two walls stand in
the way of each attack: the parser makes no HTML of its own accord, the cleaner keeps a short list.
"""

import re
from collections.abc import Sequence
from html import unescape

import nh3
from django.utils.html import escape, format_html, linebreaks, strip_tags
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from dashboard.web.languages import number

MAX_MARKDOWN = 20_000
"""Characters rendered of one text; a parser's work may grow faster than its text."""
MAX_MARKS = 4_000
"""Brackets, stars and the like above which a text is taken as plain: no person writes so many."""
LINK_REL = "noopener noreferrer nofollow"

_LIVE = re.compile(r"(?:https?://[^\s/?#]|mailto:[^\s@]+@)[^\s]*", re.IGNORECASE)
_UNSAFE = re.compile("[\x00-\x20\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\\\\]")
_SURROGATE = re.compile("[\ud800-\udfff\x00]")
_MARKS = re.compile(r"[\[\]*_~`<]")
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_GONE_WITH_CONTENT = {
    *("script", "style", "template", "iframe", "svg", "math"),
    *("noscript", "title", "textarea", "xmp"),
}


def is_live(url: str) -> bool:
    """Tell whether an address may be a link: absolute http or https, or mailto.

    One with blanks, control or direction characters in it is none: browsers drop some of them.
    Source: DESIGN.md, Untrusted.
    """
    return not _UNSAFE.search(url) and _LIVE.fullmatch(url) is not None


def render_markdown(text: str) -> SafeString:
    """Return a text's markdown as inert HTML: its first `MAX_MARKDOWN` characters.

    Where it is longer, a sentence says how much of it is shown.
    """
    shown = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text[:MAX_MARKDOWN])
    is_plain = len(_MARKS.findall(shown)) > MAX_MARKS
    made = linebreaks(escape(shown)) if is_plain else _parser.render(shown)
    html = mark_safe(_cleaner.clean(made))  # noqa: S308  # just cleaned
    if len(text) <= MAX_MARKDOWN:
        return html
    cut = '{}<p class="hint">The first {} of {} characters are shown.</p>'
    return format_html(cut, html, number(MAX_MARKDOWN), number(len(text)))


def visible_text(text: str) -> str:
    """Return what a reader sees of a text's markdown, and what of it is too long to be shown."""
    return unescape(strip_tags(render_markdown(text[:MAX_MARKDOWN]))) + text[MAX_MARKDOWN:]


class _Renderer(RendererHTML):
    """HTML of markdown, in which a heading is a bold line, as an outline belongs to our page."""

    def heading_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return "<p><strong>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return "</strong></p>\n"

    def fence(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return f"<pre>{escape(tokens[index].content)}</pre>\n"

    def code_block(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.fence(tokens, index)


def _keep_attribute(tag: str, attribute: str, value: str) -> str | None:
    # Must not raise: nh3 would keep the value.
    return None if (tag, attribute) == ("a", "href") and not is_live(value) else value


_parser = (
    MarkdownIt(
        "commonmark",
        {"html": False, "linkify": False, "maxNesting": 20},
        renderer_cls=_Renderer,
    )
    .enable(["table", "strikethrough"])
    .disable(["image", "html_inline", "html_block"])
)
_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
    attribute_filter=_keep_attribute,
    url_schemes={"http", "https", "mailto"},
    link_rel=LINK_REL,
    strip_comments=True,
    clean_content_tags=_GONE_WITH_CONTENT,
    set_tag_attribute_values={"pre": {"class": "code wrap"}, "table": {"class": "table"}},
)
