"""Render untrusted markdown as inert HTML, and decide which URLs may become links.

Images, classes, ids and other attributes are removed; raw HTML is escaped. There are two layers:
the parser renders no HTML from the text, and the cleaner allows a short list of tags.
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

from dashboard.texts import is_link
from dashboard.web.ui.formats import number

MAX_MARKDOWN = 20_000
"""Maximum number of characters to render, as a parser may take more than linear time."""
MAX_MARKS = 4_000
"""A text with more markup characters (brackets, stars, …) is rendered as plain text."""
LINK_REL = "noopener noreferrer nofollow"

_SURROGATE = re.compile("[\ud800-\udfff\x00]")
_MARKS = re.compile(r"[\[\]*_~`<]")
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_TAGS_REMOVED_WITH_CONTENT = {
    *("script", "style", "template", "iframe", "svg", "math"),
    *("noscript", "title", "textarea", "xmp"),
}


def is_linkable(url: str) -> bool:
    """Return whether a URL may become a link: an absolute http or https URL, or mailto."""
    return is_link(url) and not url.lower().startswith("tel:")


def render_markdown(text: str) -> SafeString:
    """Render the first `MAX_MARKDOWN` characters of a markdown text as inert HTML.

    A note says how much of a longer text is shown.
    """
    source = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text[:MAX_MARKDOWN])
    is_plain = len(_MARKS.findall(source)) > MAX_MARKS
    rendered = linebreaks(escape(source)) if is_plain else _parser.render(source)
    html = mark_safe(_cleaner.clean(rendered))  # noqa: S308  # just cleaned
    if len(text) <= MAX_MARKDOWN:
        return html
    truncated = '{}<p class="hint">Showing the first {} of {} characters.</p>'
    return format_html(truncated, html, number(MAX_MARKDOWN), number(len(text)))


def visible_text(text: str) -> str:
    """Return the visible text of rendered markdown, followed by the part beyond the limit."""
    return unescape(strip_tags(render_markdown(text[:MAX_MARKDOWN]))) + text[MAX_MARKDOWN:]


class _Renderer(RendererHTML):
    """Renders headings as bold lines, as the heading outline belongs to our page."""

    def heading_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return "<p><strong>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return "</strong></p>\n"

    def fence(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return f"<pre>{escape(tokens[index].content)}</pre>\n"

    def code_block(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.fence(tokens, index)


def _keep_attribute(tag: str, attribute: str, value: str) -> str | None:
    # This must not raise: nh3 would keep the value.
    return None if (tag, attribute) == ("a", "href") and not is_linkable(value) else value


_parser = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": 20}, renderer_cls=_Renderer)
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
    clean_content_tags=_TAGS_REMOVED_WITH_CONTENT,
    set_tag_attribute_values={"pre": {"class": "code wrap"}, "table": {"class": "table"}},
)
