"""The width of a text in Arial, the font of search results, and where a long text is cut."""

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import east_asian_width, normalize

_LETTERS = {
    191: "'",
    222: "ijlł‘’ίιіј",
    278: " !,./:;I[\\]|ftı·ΙІЇї",
    333: '()-`r“”¡{}•"',
    389: "*τ°гѓ",
    445: "кќζέεξзт^",
    500: "JcksvxyzςγκλνЈсухѕўэєьчχ",
    556: "#$0123456789?L_abdeghnopquđþð–«»€£вЃГпяΰυΓнџήηθοδаеорѐёђћийѝρбц",
    584: "+<=>~βμάαЌКдлЗ",
    611: "FTZßø¿ΖΤТσΣъ",
    667: "&ABEKPSVXYΑΒΕΚΡΥΧΫЀЁЅАВЕРХЧΔΛжφΞБЛЬЎУ",
    722: "CDHNRUwΗΝΠЍНСЯ©®ЦДмπψЄЏИЙПЭы",
    778: "GOQΘΟОΩюФωЪФшΦ",
    833: "MmΜМњфщΨЋ",
    889: "%æљЂЫ",
    944: "WœШЖЩ",
    1000: "…—@ЊЮЉ",
}
"""Letters by their width, in thousandths of the font size, rounded. Source: Arial's own table."""
_WIDTHS = {letter: width for width, letters in _LETTERS.items() for letter in letters}
_UNITS = re.compile(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]{1,20}\s*")
"""Units that never wrap: a word, a part of a very long one, or an East Asian character."""
MAX_MEASURED = 2_000
"""Number of characters to measure. Longer texts are always cut."""


@dataclass(frozen=True)
class Space:
    """The space for a text, in pixels."""

    width: int
    font_size: int
    lines: int = 1


SEARCH_TITLE, SEARCH_DESCRIPTION = Space(600, 20), Space(600, 14, lines=2)
SOCIAL_TITLE, SOCIAL_DESCRIPTION = Space(400, 16, lines=2), Space(400, 14, lines=2)
"""Our choice, based on desktop results: search engines and networks guarantee no sizes."""


@lru_cache(maxsize=4_000)
def _letter_width(letter: str) -> int:
    """Return a width in thousandths of the font size. Accents add no width."""
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    base = normalize("NFD", letter)[0]
    if base != letter:
        return _letter_width(base)
    if "\u0300" <= letter <= "\u036f":
        return 0
    return 1000 if east_asian_width(letter) in "WF" else 556


def text_width(text: str, font_size: int) -> float:
    """Return the width of a text on one line, in pixels."""
    return sum(map(_letter_width, text[:MAX_MEASURED])) * font_size / 1000


def fit(text: str, space: Space) -> str:
    """Return a text as drawn: in full if it fits, else cut and with an ellipsis."""
    text = " ".join(text[:MAX_MEASURED].split())
    if _fitting(text, space, reserved=0) == len(text):
        return text
    return text[: _fitting(text, space, reserved=space.font_size)].rstrip() + "…"


def _fitting(text: str, space: Space, *, reserved: int) -> int:
    """Return how many characters fit with words wrapped, and `reserved` pixels free at the end."""
    line, end, left = 1, 0, float(space.width - reserved * (space.lines == 1))
    for unit in _UNITS.finditer(text):
        needed = text_width(unit[0].rstrip(), space.font_size)
        if needed > left and line < space.lines:
            line += 1
            left = space.width - reserved * (line == space.lines)
        if needed > left:
            break
        left -= text_width(unit[0], space.font_size)
        end = unit.end()
    return end
