"""The width of a text in Arial, the font of search results, and where a long text is cut."""

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import combining, east_asian_width, normalize

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
class TextBox:
    """The box in which a text is displayed, in pixels."""

    width: int
    font_size: int
    lines: int = 1


SITE, SEARCH_TITLE, SEARCH_DESCRIPTION = (
    TextBox(600, 14),
    TextBox(600, 20),
    TextBox(600, 14, lines=2),
)
SOCIAL_TITLE, SOCIAL_DESCRIPTION = TextBox(400, 16, lines=2), TextBox(400, 14, lines=2)
"""Our choice, based on desktop results: search engines and networks guarantee no sizes."""


@lru_cache(maxsize=4_000)
def _letter_width(letter: str) -> int:
    """Return a width in thousandths of the font size. Accents add no width."""
    base = normalize("NFD", letter)[0]
    other = 0 if combining(base) else 1000 if east_asian_width(letter) in "WF" else 556
    return _WIDTHS.get(letter) or _WIDTHS.get(base, other)


def text_width(text: str, font_size: int) -> float:
    """Return the width of a text on one line, in pixels."""
    return sum(map(_letter_width, text[:MAX_MEASURED])) * font_size / 1000


def fit(text: str, box: TextBox) -> str:
    """Return a text as drawn: in full if it fits, else cut and with an ellipsis."""
    text = " ".join(text[:MAX_MEASURED].split())
    line, left, end = 1, float(box.width), 0
    for unit in _UNITS.finditer(text):
        width = text_width(unit[0].rstrip(), box.font_size)
        if width > left and line == box.lines:
            return text[:end].rstrip() + "…"
        if width > left:
            line, left = line + 1, box.width
        # If the text is cut here, the ellipsis needs the space of a letter.
        if line < box.lines or left - width >= box.font_size:
            end = unit.end()
        left -= text_width(unit[0], box.font_size)
    return text
