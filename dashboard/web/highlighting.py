"""Code and JSON in the four colours of the design, as text that can do nothing.

Pygments reads; the classes are ours (`static/css/components/text.css`): `k` names, `s` strings,
`n` numbers, `b` true, false and null.
"""

import json
import re
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String
from pygments.util import ClassNotFound

from dashboard.web.languages import number

MAX_CODE = 100_000
"""Characters shown of one text; a lexer's work may grow faster than its text."""

# Shown, these reorder or hide what stands around them; lone surrogates cannot be sent at all.
_TREACHEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
# From the particular to the general: the first that holds the token gives the class.
_CLASSES = (
    (Keyword.Constant, "b"),
    (Keyword, "k"),
    (Name.Tag, "k"),
    (Name.Attribute, "k"),
    (String, "s"),
    (Number, "n"),
    (Comment, "muted"),
)


def pretty_json(value: Any) -> str:
    """Return a value as indented JSON. What JSON does not know becomes its text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def highlight_json(value: Any) -> SafeString:
    """Return a value as coloured, indented JSON."""
    return highlight_source(pretty_json(value), "json")


def highlight_source(text: str, language: str = "") -> SafeString:
    """Return the first `MAX_CODE` characters of a text, coloured; plain in an unknown language.

    A character that could deceive the reader stands as its code, such as `\\u202e`.
    """
    shown = _TREACHEROUS.sub(_as_code, text[:MAX_CODE])
    spans = (_span(token, part) for token, part in _lexer(language).get_tokens(shown))
    html = mark_safe("".join(spans))  # noqa: S308  # each is escaped
    if len(text) <= MAX_CODE:
        return html
    cut = '{}\n<span class="hint">The first {} of {} characters are shown.</span>'
    return format_html(cut, html, number(MAX_CODE), number(len(text)))


def _span(token: Any, text: str) -> str:
    name = next((name for kind, name in _CLASSES if token in kind), "")
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)


def _lexer(language: str) -> Lexer:
    # As it came: no blank line dropped, none added.
    options = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(language, **options) if language else TextLexer(**options)
    except ClassNotFound:
        return TextLexer(**options)


def _as_code(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
