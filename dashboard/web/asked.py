"""What an address asks for in words and numbers: read in one way by every page."""

from django.http import QueryDict

WORDS_KEPT = 200
"""Characters of a text that is searched or narrowed by. Our choice."""
DIGITS_READ = 12
FARTHEST = 1_000_000_000


def words_in(address: QueryDict, name: str = "q") -> str:
    """Return the words to search for."""
    return kept(address.get(name, "")).strip()


def kept(text: str) -> str:
    """Return what is read of a text. PostgreSQL takes no NUL in one."""
    return text.replace("\0", "")[:WORDS_KEPT]


def count_in(text: str) -> int:
    """Return a count, FARTHEST at most; what is none is 0."""
    return min(int(text), FARTHEST) if text.isdecimal() and len(text) <= DIGITS_READ else 0
