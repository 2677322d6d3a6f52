"""Search compares texts with one function that ignores case and accents."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.texts import fold, is_blank

NO_CHARACTERS = {"Cn", "Co"}
"""Unicode's categories of unassigned and private code points, which are seven of eight."""


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Hanseatic Kühllogistik", "hanseatic kuhllogistik"),
        ("Ku\u0308hl", "kuhl"),
        ("Straße", "strasse"),
        ("Łódź Ørsted Đà Nẵng", "lodz orsted da nang"),
        ("Æsir Œuvre Þór Ħal", "aesir oeuvre thor hal"),
        ("İstanbul Diyarbakır", "istanbul diyarbakir"),
        ("Σίσυφος", "σισυφοσ"),
        ("Ёлка", "елка"),
        ("ﬁne ℡ Ⓐ", "fine tel a"),
        ("東京 서울", "東京 서울"),
    ],
)
def test_case_and_accents_go(text: str, folded: str) -> None:
    assert fold(text) == fold(folded)
    assert fold(text) == folded or not folded.isascii()


def test_folding_ignores_case_and_is_stable(pytestconfig: pytest.Config) -> None:
    skipped = set() if pytestconfig.getoption("exhaustive") else NO_CHARACTERS
    for character in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(character) in skipped:
            continue
        once = fold(character)
        others = {once, character.upper(), character.lower()} - {character}
        assert {once} >= {*map(fold, others)}, character


@given(st.text(), st.text())
def test_a_text_folds_to_the_folds_of_its_characters(first: str, second: str) -> None:
    assert fold(first + second) == "".join(map(fold, first + second))


def test_a_text_with_any_letter_is_not_blank() -> None:
    assert is_blank(None)
    assert is_blank(" \n\u200b\u00ad\u3164")
    for visible in ("0", "\u200b\u05e9", "\u0301e", "\U0001f469\u200d\U0001f680"):
        assert not is_blank(visible)
