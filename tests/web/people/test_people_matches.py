"""Highlighting marks the searched words, and never more or less of the text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.people import Person
from dashboard.texts import fold
from dashboard.web.people.listing import PersonMatch
from dashboard.web.ui.match_highlighting import (
    MAX_SEARCHED_CHARACTERS,
    query_words,
    split_at_matches,
)


def marked_text(text: str, query: str) -> str:
    return "".join(f"[{p.text}]" if p.is_match else p.text for p in split_at_matches(text, query))


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Jonas Albright", "bright", "Jonas Al[bright]"),
        ("BRIGHT bright", "Bright", "[BRIGHT] [bright]"),
        ("Ada Lovelace", "love ada", "[Ada] [Love]lace"),
        ("banana", "ana", "b[anana]"),
        ("abcd", "ab cd", "[abcd]"),
        ("Jürgen Weiß", "WEISS jÜ", "[Jü]rgen [Weiß]"),
        ("Weiß", "s", "Wei[ß]"),
        ("Peña", "PEN\u0303A", "[Peña]"),
        ("Jürgen Müller", "muller", "Jürgen [Müller]"),
        ("Mu\u0308ller", "MÜL", "[Mu\u0308l]ler"),
        ("Michał Ørsted", "michal orsted", "[Michał] [Ørsted]"),
        ("Pen\u0303a", "ñ", "Pe[n\u0303]a"),
        ("İstanbul", "i̇s", "[İs]tanbul"),
        ("ﬁne", "fi", "[ﬁ]ne"),
        ("Μα\u0390ου", "Μα\u0390".upper(), "[Μα\u0390]ου"),
        ("Μα\u0390ου".upper(), "μα\u0390", "[ΜΑ\u0399\u0308\u0301]ΟΥ"),
        ("a.b*c", ".", "a[.]b*c"),
        ("100%_x", "%_", "100[%_]x"),
        ("<b>", "b", "<[b]>"),
        ("\U0001f600 smile", "\U0001f600", "[\U0001f600] smile"),
        ("Ada", "", "Ada"),
        ("Ada", "zebra", "Ada"),
        ("", "ada", ""),
    ],
)
def test_marks_ignore_case_and_accents(text: str, query: str, expected: str) -> None:
    assert marked_text(text, query) == expected


def test_only_the_start_of_a_long_text_is_searched() -> None:
    segments = split_at_matches("a" + "b" * MAX_SEARCHED_CHARACTERS + "a", "a")
    assert [len(segment.text) for segment in segments] == [1, MAX_SEARCHED_CHARACTERS + 1]


def test_each_word_is_located_in_its_fields() -> None:
    person = Person(name="Ada Lovelace", email="ada@x.example", slug="countess", domain="x.example")
    result = PersonMatch(person, query_words("ada COUNT nowhere x."))
    assert result.places == {
        "ada": {"name", "email"},
        "count": {"slug"},
        "nowhere": set(),
        "x.": {"email", "domain"},
    }
    assert result.unmatched == ["nowhere"]
    assert result.matches_outside("name", "email") == ["slug"]
    assert result.matches_outside("name") == ["email", "domain", "slug"]
    assert result.matches_outside("slug", "email") == []


LETTERS = st.text(st.sampled_from("aAbß ñn\u0303ẞİfiﬁ<&.\U0001f600") | st.characters())


@given(LETTERS, LETTERS)
def test_the_segments_are_the_text_and_alternate(text: str, query: str) -> None:
    segments = split_at_matches(text, query)
    assert "".join(segment.text for segment in segments) == text
    assert all(segment.text for segment in segments)
    kinds = [segment.is_match for segment in segments]
    assert all(item != other for item, other in pairwise(kinds))


@given(LETTERS, LETTERS)
def test_every_mark_contains_a_word(text: str, query: str) -> None:
    words = query_words(query)
    for segment in split_at_matches(text, query):
        if segment.is_match:
            assert any(word in fold(segment.text) for word in words)


@given(st.text(st.characters(max_codepoint=0x24F)), st.text(st.characters(max_codepoint=0x24F)))
def test_every_word_in_a_text_is_marked(text: str, word: str) -> None:
    words = query_words(word)
    if len(words) != 1 or words[0] not in fold(text):
        return
    assert any(segment.is_match for segment in split_at_matches(text, word))
