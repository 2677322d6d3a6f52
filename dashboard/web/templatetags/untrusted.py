"""Tags for what others wrote. Strings are text; nothing of them is ever markup of ours."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web.highlighting import highlight_json, highlight_source
from dashboard.web.templatetags.pressroom import value_or_none
from dashboard.web.untrusted import LINK_REL, is_live, render_markdown

register = template.Library()


@register.simple_tag
def markdown(text: str | None, classes: str = "prose") -> SafeString:
    """Draw markdown, made inert; htmx and the direction of the text end at its edge."""
    block = '<div class="{}" dir="auto" hx-disable>{}</div>'
    return format_html(block, classes, render_markdown(text or ""))


@register.simple_tag
def json_code(value: Any) -> SafeString:
    """Draw a value as coloured JSON."""
    return format_html('<pre class="code wrap">{}</pre>', highlight_json(value))


@register.simple_tag
def source_code(text: str | None, language: str = "") -> SafeString:
    """Draw a text as coloured code of that language; shown, never run."""
    block = '<pre class="code wrap">{}</pre>'
    return format_html(block, highlight_source(text or "", language))


@register.simple_tag
def safe_link(url: str | None, text: str = "") -> Any:
    """Draw an address: a link for http, https and mailto, otherwise its text."""
    shown = text or url or ""
    if not url or not is_live(url):
        return format_html("<bdi>{}</bdi>", shown) if shown else value_or_none(None)
    return format_html('<a href="{}" rel="{}"><bdi>{}</bdi></a>', url, LINK_REL, shown)


@register.simple_tag
def given(text: str | None) -> SafeString:
    """Draw a text in a line; one that is empty and one that was not given each have their word."""
    if text:
        return format_html("<bdi>{}</bdi>", text)
    word = "Not given" if text is None else "Empty text"
    return format_html('<span class="none">{}</span>', word)


@register.filter
def is_text(value: Any) -> bool:
    """Tell whether a JSON value is a text with something in it."""
    return isinstance(value, str) and bool(value)
