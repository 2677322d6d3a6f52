"""HTML around untrusted text. Every string is escaped or sanitized."""

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web.ui.highlighting import highlight_source, pretty_json
from dashboard.web.ui.markdown import LINK_REL, is_linkable, render_markdown
from dashboard.web.ui.markup import value_or_none


def markdown(text: str | None, classes: str = "prose") -> SafeString:
    """Render sanitized markdown, isolated from htmx and from the page's text direction."""
    block = '<div class="{}" dir="auto" hx-disable>{}</div>'
    return format_html(block, classes, render_markdown(text or ""))


def json_code(value: Any) -> SafeString:
    """Render a value as highlighted JSON."""
    return source_code(pretty_json(value), "json")


def source_code(text: str | None, language: str = "") -> SafeString:
    """Render a text as highlighted code of that language."""
    return format_html('<pre class="code wrap">{}</pre>', highlight_source(text or "", language))


def safe_link(url: str | None, text: str = "") -> Any:
    """Render a URL: as a link for http, https and mailto, otherwise as text."""
    label = text or url or ""
    if not url or not is_linkable(url):
        return format_html("<bdi>{}</bdi>", label) if label else value_or_none(None)
    return format_html('<a href="{}" rel="{}"><bdi>{}</bdi></a>', url, LINK_REL, label)


def given(text: str | None) -> SafeString:
    """Render a text inline, with a placeholder if it is empty or was not given."""
    if text:
        return format_html("<bdi>{}</bdi>", text)
    word = "Not given" if text is None else "Empty text"
    return format_html('<span class="none">{}</span>', word)
