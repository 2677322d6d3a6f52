"""What is compared when people are searched: words of a query, texts of a person."""

import unicodedata
from typing import Any

SEARCHED = ("name", "email", "domain", "slug", "phone_number")


def fold(text: str) -> str:
    """Return the text as it is compared: without case, in one form of each letter.

    A NUL, which no query may hold, becomes a space: databases and indexes end a text there.
    """
    # Twice: a letter may lie in parts without case ("ΐ"), which its capital is put together from.
    return _without_case(_without_case(text)).replace("\0", " ")


def _without_case(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a query, folded, each once, the longest first; none of a blank one."""
    return tuple(sorted(set(fold(query).split()), key=lambda word: (-len(word), word)))


def searchable_text(person: Any) -> str:
    """Return a person's texts folded, one a line: no word of a query can span two of them.

    A text that another one holds (a domain in its email) is left out: it adds nothing to find.
    """
    texts = {fold(getattr(person, name) or ""): None for name in SEARCHED}
    held = [text for text in texts if any(text in other for other in texts if other != text)]
    return "\n".join(text for text in texts if text not in held)
