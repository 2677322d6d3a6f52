"""Name the characters of a text that nobody sees: they change how it reads, or what it equals."""

import re
import unicodedata
from collections.abc import Iterator

# Of no use in plain text: controls, soft hyphens, zero-width spaces, marks and overrides of
# direction. NEL and the line separators count as spacing.
_HIDDEN = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
# Part of the spelling of some languages and of emoji: joiners, variation selectors, fillers, tags.
_USED = r"\u034f\u115f\u1160\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0001-\U000e01ef"
_EMOJI = ("So", "Sk", "Cn", "Me")
"""Categories of what joiners and selectors follow in emoji; `Cn` are those too new for Python."""
# Marks above and below letters, and the vowels and finals of Korean.
_COMBINING = r"\u0300-\u034e\u0350-\u036f\u0653-\u0655\u093c\u09be\u1161-\u11ff\u3099\u309a"

_ANYWHERE = re.compile(f"[{_HIDDEN}]")
_IN_CHANGES = re.compile(f"(?P<hidden>[{_HIDDEN}])|(?P<used>[{_USED}])|(?P<mark>[{_COMBINING}])")
_MARKS = re.compile(f"[{_COMBINING}]*$")
_OVERRIDES = re.compile(r"[\u202d\u202e]")
_MAX_MARKS = 8
"""Marks of one letter that are looked at."""


def split_invisible(text: str, *, is_changed: bool) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text, each with the name of the invisible character that follows.

    Joiners, variation selectors and letters taken apart are named only in a text that has changed.
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


def direction_overrides(text: str) -> list[str]:
    """Return the names of the direction overrides in a text, each once."""
    return [character_name(character) for character in sorted(set(_OVERRIDES.findall(text)))]


def character_name(character: str) -> str:
    """Return a character's name, such as `U+202E right-to-left override`."""
    name = unicodedata.name(character, "control character").lower()
    return f"U+{ord(character):04X} {name}"


def _is_taken_apart(before: str, mark: str) -> bool:
    """Whether Unicode has one letter for the last one of a text with this mark."""
    marks = _MARKS.search(before)
    letter = before[marks.start() - 1 :] if marks and marks.start() else before
    composed = [unicodedata.normalize("NFC", text) for text in (letter, letter + mark)]
    return len(composed[1]) <= len(composed[0])
