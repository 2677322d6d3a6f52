"""Highlight code and JSON as inert HTML.

Pygments does the lexing; the CSS classes are in `static/css/components/text.css`.
"""

import json
import re
from functools import cache
from html import escape
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String
from pygments.util import ClassNotFound

from dashboard.web.ui.formats import number

MAX_CODE = 100_000
"""Maximum number of characters to highlight, as a lexer may take more than linear time."""

# These reorder or hide the text around them. Lone surrogates can't be encoded as UTF-8.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
# Ordered from specific to general: the first type that contains a token gives its class.
_CLASSES = (
    (Keyword.Constant, "code-constant"),
    (Keyword, "code-key"),
    (Name.Tag, "code-key"),
    (Name.Attribute, "code-key"),
    (String, "code-string"),
    (Number, "code-number"),
    (Comment, "muted"),
)


def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def has_hidden_characters(text: str) -> bool:
    return bool(_DECEPTIVE.search(text))


def highlight_source(text: str, language: str = "") -> SafeString:
    """Highlight the first `MAX_CODE` characters of a text. Unknown languages stay plain.

    A deceptive character is replaced by its code, such as `\\u202e`.
    """
    source = _DECEPTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", text[:MAX_CODE])
    spans = (_span(token, part) for token, part in _lexer(language).get_tokens(source))
    html = mark_safe("".join(spans))  # noqa: S308  # each is escaped
    if len(text) <= MAX_CODE:
        return html
    truncated = '{}\n<span class="hint">Showing the first {} of {} characters.</span>'
    return format_html(truncated, html, number(MAX_CODE), number(len(text)))


@cache
def _css_class(token: Any) -> str:
    """Return the CSS class of a token type. There are about eighty types to cache."""
    return next((name for kind, name in _CLASSES if token in kind), "")


def _span(token: Any, text: str) -> str:
    # Django's escape would also mark each of the thousand parts of a page as safe.
    name, html = _css_class(token), escape(text)
    return f'<span class="{name}">{html}</span>' if name else html


def _lexer(language: str) -> Lexer:
    # Keep blank lines at the start, and add no line break at the end.
    options = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(language, **options) if language else TextLexer(**options)
    except ClassNotFound:
        return TextLexer(**options)
