"""Render comments as HTML: plain text with links and mentions. All text is escaped."""

import re
from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.comments.models import Comment, Mention
from dashboard.web.ui.markdown import LINK_REL, is_linkable

_URL = r"https?://[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]'’]"


def comment_body(comment: Comment) -> SafeString:
    mentions = comment.names
    paragraphs = comment.body.split("\n\n")
    return format_html_join("", "<p>{}</p>", ((_lines(text, mentions),) for text in paragraphs))


def _lines(text: str, mentions: Iterable[Mention]) -> SafeString:
    names = sorted((f"@{mention.name}" for mention in mentions), key=len, reverse=True)
    pattern = "|".join([_URL, *map(re.escape, names)])
    pieces = re.split(f"({pattern})", text)
    return format_html_join("", "{}", ((_piece(piece),) for piece in pieces))


def _piece(text: str) -> SafeString | str:
    if text.startswith("@"):
        return format_html('<span class="mention" translate="no">{}</span>', text)
    if is_linkable(text) and re.fullmatch(_URL, text):
        return format_html('<a href="{}" rel="{}">{}</a>', text, LINK_REL, text)
    return format_html_join(SafeString("<br>"), "{}", ((line,) for line in text.split("\n")))


def initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in [words[0], words[-1]]) if words[1:] else name[:2]
