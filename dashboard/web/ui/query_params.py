"""Parse text and numbers from the query string."""

from django.http import QueryDict

MAX_TEXT_LENGTH = 200
"""In characters. Our choice."""
MAX_DIGITS = 12
MAX_COUNT = 1_000_000_000


def search_param(query: QueryDict, name: str = "q") -> str:
    """Return the words to search for."""
    return clean_param(query.get(name, "")).strip()


def clean_param(text: str) -> str:
    """Remove NUL, which PostgreSQL rejects, and truncate to MAX_TEXT_LENGTH."""
    return text.replace("\0", "")[:MAX_TEXT_LENGTH]


def int_param(text: str) -> int:
    """Return a non-negative integer, at most MAX_COUNT; 0 if the text is not a number."""
    return min(int(text), MAX_COUNT) if text.isdecimal() and len(text) <= MAX_DIGITS else 0
