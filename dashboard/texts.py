"""Fold texts for search, tell links, name invisible characters, escape formulas, redact secrets.

Every search ignores case and accents. Invisible characters are named, because they change how a
text reads or what it equals. Formulas are escaped, because a spreadsheet that opens a CSV file runs
them. URLs of the webhook receiver and links in e-mails contain secrets.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

_BASE_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "þ": "th"}
)
"""Letters that Unicode doesn't decompose, spelled as people without such a keyboard type them."""


def fold(text: str) -> str:
    """Return a text as search compares it: without case, accents and compatibility forms.

    "Kühl" becomes "kuhl", "Straße" "strasse", "Łódź" "lodz". Each character is folded by itself, so
    a folded text is its folded characters in a row. A combining mark folds to nothing.
    """
    if text.isascii():
        return text.lower()
    # Casefold before removing the marks: one of them, the iota below Greek letters, has a capital.
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    without_marks = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return without_marks.translate(_BASE_LETTERS)


def storage_problem(name: str, text: str, limit: int) -> str:
    """Return a sentence on why a text that a user typed can't be stored, or "".

    `limit` is in characters.
    """
    if len(text) > limit:
        return f"The {name} has {len(text):,} characters. The maximum is {limit:,}."
    # PostgreSQL rejects NUL.
    return f"The {name} has a character that can’t be stored." if "\0" in text else ""


_URL = re.compile(r"(?:https?://[^\s/?#\\]|mailto:[^\s@\\]+@|tel:[+\d(])[^\s\\]*", re.IGNORECASE)
_UNSAFE = re.compile("[\x00-\x20\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_link(text: str) -> bool:
    """Return whether browsers open a URL: http or https with a host, mailto or tel.

    Spaces, control and direction characters rule it out, because browsers drop some of them.
    """
    return not _UNSAFE.search(text) and _URL.fullmatch(text) is not None


# Useless in plain text: controls, soft hyphens, zero-width spaces, direction marks and overrides.
# NEL and the line separators count as spacing.
_HIDDEN = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
# Part of the spelling of some languages and of emoji: joiners, variation selectors, fillers, tags.
_USED = r"\u034f\u115f\u1160\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0001-\U000e01ef"
_EMOJI = ("So", "Sk", "Cn", "Me")
"""Categories of the characters that joiners and selectors follow in emoji. `Cn` stands for emoji
that are too new for Python."""
# Marks above and below letters, and the vowels and finals of Korean.
_COMBINING = r"\u0300-\u034e\u0350-\u036f\u0653-\u0655\u093c\u09be\u1161-\u11ff\u3099\u309a"

_ANYWHERE = re.compile(f"[{_HIDDEN}]")
_BLANK = re.compile(rf"[\s{_HIDDEN}{_USED}]*")
_IN_CHANGES = re.compile(f"(?P<hidden>[{_HIDDEN}])|(?P<used>[{_USED}])|(?P<mark>[{_COMBINING}])")
_MARKS = re.compile(f"[{_COMBINING}]*$")
_OVERRIDES = re.compile(r"[\u202d\u202e]")
_MAX_MARKS = 8
"""Number of characters before a mark that are searched for its letter."""


def split_invisible(text: str, *, is_changed: bool) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text, each with the name of the invisible character that follows.

    Joiners, variation selectors and decomposed letters are named only if `is_changed`.
    """
    end = 0
    for match in (_IN_CHANGES if is_changed else _ANYWHERE).finditer(text):
        place, character, kind = match.start(), match[0], match.lastgroup
        if kind == "used" and place and unicodedata.category(text[place - 1]) in _EMOJI:
            continue
        if kind == "mark" and not _is_taken_apart(
            text[max(place - _MAX_MARKS, 0) : place], character
        ):
            continue
        # A mark is shown on its letter.
        yield text[end : match.end() if kind == "mark" else place], character_name(character)
        end = match.end()
    if text[end:]:
        yield text[end:], ""


def is_blank(text: str | None) -> bool:
    """Return whether a text has nothing to see, so that a link with it couldn't be pressed."""
    return _BLANK.fullmatch(text or "") is not None


def direction_overrides(text: str) -> list[str]:
    return [character_name(character) for character in sorted(set(_OVERRIDES.findall(text)))]


def character_name(character: str) -> str:
    """Return a character's name, such as `U+202E right-to-left override`."""
    name = unicodedata.name(character, "control character").lower()
    return f"U+{ord(character):04X} {name}"


def _is_taken_apart(before: str, mark: str) -> bool:
    marks = _MARKS.search(before)
    letter = before[marks.start() - 1 :] if marks and marks.start() else before
    composed = [unicodedata.normalize("NFC", text) for text in (letter, letter + mark)]
    return len(composed[1]) <= len(composed[0])


_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Signs that start a formula. The last four are as wide as East Asian letters. Source: OWASP."""
_STARTS_A_FORMULA = (*_SIGNS, "\t", "\r", "\n")
_ESCAPED = tuple(f"'{sign}" for sign in _SIGNS)


def escape_formula(value: object) -> object:
    """Prefix a text that a spreadsheet would run as a formula with an apostrophe.

    Other values, numbers included, are returned unchanged.
    """
    if isinstance(value, str) and value.startswith(_STARTS_A_FORMULA):
        return f"'{value}"
    return value


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`. `text` has no spacing around it."""
    return text[1:] if text.startswith(_ESCAPED) else text


_SECRET = re.compile(
    r"((?:\\?/|%2f)(?:h|%68)(?:o|%6f){2}(?:k|%6b)(?:s|%73)(?:\\?/|%2f)+)(?!deliveries/\d+/)"
    r"[^\s?#\"'<>\\]*[^\s?#\"'<>\\/]",
    re.IGNORECASE,
)
"""The part of a webhook receiver's URL after `/hooks/`, which is secret.

Also matches with a slash too many or too few, because such a URL may be normalized. Slashes and
letters may be escaped, and a quote ends it, as in JSON.
"""
_LINK = re.compile(r"(/email/confirm/+)[^\s?#\"'<>/]+", re.IGNORECASE)
"""Confirmation link in an e-mail; it contains an address."""
_TOKEN = re.compile(r"prt_[0-9a-f]{20,}")
"""API token, which doesn't belong in a URL."""


def redact_secret(text: str) -> str:
    """Return the text with tokens, and secrets in our URLs, replaced."""
    return _TOKEN.sub("prt_…", _LINK.sub(r"\1…", _SECRET.sub(r"\1…", text)))


def redact_unless(value: Any, is_allowed: bool) -> Any:  # noqa: FBT001  # a filter of templates
    """Return a JSON value unchanged if `is_allowed`, else with its secrets redacted.

    `is_allowed` is whether the user may change webhooks.
    """
    if is_allowed:
        return value
    if isinstance(value, str):
        return redact_secret(value)
    text = json.dumps(value, ensure_ascii=False)
    redacted = redact_secret(text)
    return value if redacted == text else json.loads(redacted)
