"""Fold texts so that search ignores case and accents, the same in every room."""

from unicodedata import combining, normalize

_BASE_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "þ": "th"}
)
"""Letters that Unicode does not take apart, as people type them who lack their keyboard."""


def fold(text: str) -> str:
    """Return a text as search compares it: without case, accents and compatibility forms.

    "Kühl" is "kuhl", "Straße" is "strasse", "Łódź" is "lodz". Each character is folded by itself,
    so a text folds to the folds of its characters in a row; a combining mark folds to nothing.
    """
    if text.isascii():
        return text.lower()
    # Casefold before the marks go: one of them, the iota below Greek letters, has a capital.
    letters = normalize("NFKD", normalize("NFKD", text).casefold())
    return "".join(each for each in letters if not combining(each)).translate(_BASE_LETTERS)
