"""The filter that marks what was searched for. Load with `{% load find %}`."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def marked(text: str, words: str) -> SafeString:
    """Draw a text with every one of the words in it marked, whatever their case."""
    found = [re.escape(word) for word in sorted(words.split(), key=len, reverse=True)]
    if not found:
        return format_html("{}", text)
    # A split by one group gives what is between, then what was found, by turns.
    pieces = re.split(f"({'|'.join(found)})", text, flags=re.IGNORECASE)
    return format_html_join(
        "", "{}{}", ((_mark(piece) if turn % 2 else piece, "") for turn, piece in enumerate(pieces))
    )


def _mark(piece: str) -> SafeString:
    return format_html("<mark>{}</mark>", piece)
