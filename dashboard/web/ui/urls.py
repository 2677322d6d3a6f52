"""Identifiers in URLs, and a cached `reverse`."""

from functools import lru_cache
from urllib.parse import quote, unquote

from django.urls import get_script_prefix, get_urlconf, reverse

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES

_SPECIAL = {".": "%2E", "..": "%2E%2E", "new": "%6Eew"}
"""Ids that mean something else in a path: relative steps, and `new` as in /pages/new/."""


class IdentifierConverter:
    """An identifier, percent-encoded twice.

    A server decodes a URL before Django resolves it, so an id with `/` would be split. `%252F`
    arrives as `%2F` and is decoded here.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Decode an identifier.

        Raises ValueError, which makes a 404, if the id can't be stored: it is too long, or it has
        a NUL, which PostgreSQL rejects even in queries.
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
    """Return the URL with this name, like `reverse`. All arguments are identifiers.

    Raises NoReverseMatch if there is no such URL.
    """
    pattern = _url_pattern(name, len(identifiers), get_script_prefix(), get_urlconf())
    # Encode twice: a server decodes the URL once (see IdentifierConverter).
    segments = (_segment(identifier).replace("%", "%25") for identifier in identifiers)
    return pattern.format(*segments)


@lru_cache(maxsize=100)
def _url_pattern(name: str, count: int, _prefix: str, urlconf: str | None) -> str:
    placeholders = [_PLACEHOLDER.format(number) for number in range(count)]
    url = reverse(name, urlconf, args=placeholders).replace("{", "{{").replace("}", "}}")
    for placeholder in placeholders:
        url = url.replace(placeholder, "{}")
    return url
