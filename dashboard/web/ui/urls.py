"""Identifiers in URLs, and a cached `reverse`."""

from functools import lru_cache
from urllib.parse import quote, unquote

from django.urls import get_script_prefix, get_urlconf, reverse

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES

_SPECIAL = {".": "%2E", "..": "%2E%2E", "new": "%6Eew"}
"""Path steps, and our own word in the place of an id: /pages/new/, /webhooks/new/."""


class IdentifierConverter:
    """An identifier, percent-encoded twice.

    A server decodes a URL before it is resolved, so an id with `/` would be split; `%252F`
    arrives as `%2F` and is decoded here.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Decode an identifier.

        Raises ValueError, which is a 404, on ids that can't be stored: with NUL, which PostgreSQL
        rejects even in queries, or too long.
        """
        if not is_identifier(identifier := unquote(value)):
            raise ValueError("no identifier")
        return identifier

    def to_url(self, value: str) -> str:
        return _SPECIAL.get(value) or quote(value, safe="")


def is_identifier(text: str) -> bool:
    return "\0" not in text and len(text.encode()) <= MAX_IDENTIFIER_BYTES


_segment = IdentifierConverter().to_url
_PLACEHOLDER = "identifier-{}-placeholder"


def cached_reverse(name: str, *identifiers: str) -> str:
    """Return the URL of that name, whose arguments are all identifiers, as `reverse` does.

    Raises NoReverseMatch if there is no such URL.
    """
    pattern = _url_pattern(name, len(identifiers), get_script_prefix(), get_urlconf())
    # Encoded twice, as a server decodes the URL once (IdentifierConverter).
    segments = (_segment(identifier).replace("%", "%25") for identifier in identifiers)
    return pattern.format(*segments)


@lru_cache(maxsize=100)
def _url_pattern(name: str, count: int, _prefix: str, urlconf: str | None) -> str:
    placeholders = [_PLACEHOLDER.format(number) for number in range(count)]
    url = reverse(name, urlconf, args=placeholders).replace("{", "{{").replace("}", "}}")
    for placeholder in placeholders:
        url = url.replace(placeholder, "{}")
    return url
