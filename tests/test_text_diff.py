"""Word diffs lose nothing, mark only changes, and are never slow."""

import time
from itertools import chain
from typing import Any

import pytest
from django.template import engines
from hypothesis import given
from hypothesis import strategies as st

from dashboard.text_diff import (
    DiffGranularity,
    DiffSegment,
    TextDifference,
    compare_texts,
    count_changes,
)
from tests.support.html import text

WORDS = st.sampled_from(
    ["the", "cat", "ran", "Kühllogistik", "8%", "don't", "，", "日本", "e\u0301"]
)
SPACES = st.sampled_from(
    [" ", " ", " ", "  ", ", ", ". ", "\n", "\n\n", "\r\n", "\n \n\t", "\u00a0"]
)
TEXTS = st.lists(st.tuples(WORDS, SPACES), max_size=14).map(lambda pairs: "".join(chain(*pairs)))


def marks(difference: TextDifference) -> list[tuple[str, str]]:
    """Return the marked words without the spacing around them."""
    return [
        (segment.kind, segment.words)
        for paragraph in difference.paragraphs
        for segment in paragraph.segments
        if segment.kind != "same" and segment.is_visible
    ]


def segments(difference: TextDifference) -> list[DiffSegment]:
    return [segment for paragraph in difference.paragraphs for segment in paragraph.segments]


def longest_common(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence, by the textbook algorithm."""
    row = [0] * (len(right) + 1)
    for a in left:
        above = row[:]
        for index, b in enumerate(right):
            row[index + 1] = above[index] + 1 if a == b else max(above[index + 1], row[index])
    return row[-1]


@given(TEXTS | st.text(), TEXTS | st.text())
def test_the_segments_joined_are_both_texts(old: str, new: str) -> None:
    difference = compare_texts(old, new)
    assert "".join(segment.text for p in difference.paragraphs for segment in p.old) == old
    assert "".join(segment.text for p in difference.paragraphs for segment in p.new) == new
    assert all(
        segment.before + segment.words + segment.after == segment.text
        for segment in segments(difference)
    )


def test_an_excerpt_surrounds_the_first_change() -> None:
    again = "Speak of winter tyres. " * 9
    before, after = (f"Same.\n{again}Pay {percent}% now. {again}" for percent in (9, 6))
    difference = compare_texts(before, after)
    excerpt = "".join(segment.text for segment in difference.excerpt if segment.kind != "del")
    assert excerpt.startswith("…")
    assert excerpt.endswith("…")
    assert "winter tyres. Pay 6% now. Speak" in excerpt
    assert len(excerpt) < 220
    assert compare_texts("Same.", "Same.").excerpt == []


@given(*[st.lists(st.sampled_from(["the", "cat", "ran", "don't"]), max_size=12)] * 2)
def test_as_few_words_as_possible_are_marked(old: list[str], new: list[str]) -> None:
    difference = compare_texts(" ".join(old), " ".join(new))
    unchanged = longest_common(old, new)
    assert difference.removed == len(old) - unchanged
    assert difference.added == len(new) - unchanged


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=20))
def test_only_inserted_words_are_marked(words: list[tuple[str, bool]]) -> None:
    old = " ".join(word for word, _ in words)
    new = " ".join(f"{word} NEW" if put_in else word for word, put_in in words)
    difference = compare_texts(old, new)
    assert difference.added == sum(put_in for _, put_in in words)
    assert difference.removed == 0
    assert {word for _, text in marks(difference) for word in text.split()} <= {"NEW"}


@given(TEXTS | st.text(), TEXTS | st.text())
def test_counts_alone_are_those_of_the_diff(old: str, new: str) -> None:
    difference = compare_texts(old, new)
    assert count_changes(old, new) == (difference.added, difference.removed)


@given(TEXTS, TEXTS)
def test_the_reverse_diff_removes_what_was_added(old: str, new: str) -> None:
    there, back = compare_texts(old, new), compare_texts(new, old)
    assert there.is_same == back.is_same == (old == new)
    assert there.added - there.removed == back.removed - back.added


def test_only_the_words_that_differ_are_marked() -> None:
    difference = compare_texts(
        "Runs 64 trucks out of three depots (Grimsby, Leeds and Felixstowe).",
        "Runs 71 trucks out of four depots (Grimsby, Leeds, Felixstowe and Doncaster).",
    )
    assert marks(difference)[:4] == [
        ("del", "64"),
        ("ins", "71"),
        ("del", "three"),
        ("ins", "four"),
    ]
    assert (difference.added, difference.removed) == (4, 3)


def test_words_with_hyphens_apostrophes_and_separators_are_one_word() -> None:
    difference = compare_texts("12-month plan, isn't (1,204.50)", "24-month plan, was (1,205.50)")
    assert [text for _, text in marks(difference)] == [
        *("12-month", "24-month"),
        *("isn't", "was"),
        *("1,204.50", "1,205.50"),
    ]


def test_an_added_sentence_is_marked_from_its_start() -> None:
    assert marks(compare_texts("Hello. The cat.", "Hello. The dog ran. The cat.")) == [
        ("ins", "The dog ran.")
    ]
    assert marks(compare_texts("Hello. The dog ran. The cat.", "Hello. The cat.")) == [
        ("del", "The dog ran.")
    ]


def test_an_inserted_paragraph_leaves_its_neighbors_unchanged() -> None:
    difference = compare_texts("One.\n\nThree.", "One.\n\nTwo.\n\nThree.")
    assert [paragraph.is_same for paragraph in difference.paragraphs] == [True, False, True]
    assert difference.unchanged == 2


def test_replaced_paragraphs_are_paired_with_their_replacements() -> None:
    difference = compare_texts("Alpha\n\nBeta\n\nEnd", "Gamma\n\nDelta\n\nEnd")
    rows = [[p.words for p in row.segments if p.is_visible] for row in difference.paragraphs]
    assert rows == [["Alpha", "Gamma"], ["Beta", "Delta"], ["End"]]


def test_splitting_a_paragraph_marks_no_word() -> None:
    difference = compare_texts("One two. Three four.", "One two.\n\nThree four.")
    assert marks(difference) == []
    assert difference.is_whitespace_only
    assert not difference.is_same


@pytest.mark.parametrize(("old", "new"), [(None, None), ("", None), (" \n", "")])
def test_no_text_on_either_side_is_empty(old: str | None, new: str | None) -> None:
    assert compare_texts(old, new).is_empty


def test_a_first_text_is_marked_as_added() -> None:
    assert marks(compare_texts(None, "Three new words")) == [("ins", "Three new words")]


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize(
    ("old", "new", "granularity"),
    [
        pytest.param(
            "the cat, " * 6_000, "the dog, " * 6_000, DiffGranularity.WORD, id="all words repeat"
        ),
        pytest.param("a " * 20_000, "b " * 20_000, DiffGranularity.WORD, id="no word stays"),
        pytest.param("a b " * 10_000, "b a " * 10_000, DiffGranularity.WORD, id="every word moves"),
        pytest.param(
            "a a b " * 6_000, "a b a a " * 5_000, DiffGranularity.WORD, id="changes can move"
        ),
        pytest.param("a\n" * 20_000, "\n" * 20_000 + "a\n", DiffGranularity.WORD, id="lines alone"),
        pytest.param("a b\n" * 12_500, "b a\n" * 12_500, DiffGranularity.LINE, id="too many words"),
        pytest.param("a\n" * 25_000, "b\n" * 25_000, DiffGranularity.WHOLE, id="too many lines"),
        pytest.param("x" * 1_000_000, "-" * 20_000, DiffGranularity.WORD, id="one endless word"),
    ],
)
def test_no_text_takes_long(old: str, new: str, granularity: DiffGranularity) -> None:
    start = time.process_time()
    difference = compare_texts(old, new)
    # A tenth of that on a fast machine. A quadratic algorithm would take minutes.
    assert time.process_time() - start < 10
    assert difference.granularity == granularity
    assert count_changes(old, new) == (difference.added, difference.removed)
    assert "".join(segment.text for p in difference.paragraphs for segment in p.new) == new


def rendered(old: str | None, new: str | None) -> str:
    return str(macros().unified_diff(compare_texts(old, new)))


def macros() -> Any:
    """Return the template macros for diffs."""
    engine = engines["jinja"]
    return engine.env.get_template("components/_difference.html").module  # type: ignore[attr-defined]


def test_changes_are_marked_and_announced() -> None:
    page = rendered("Runs 64 trucks.", "Runs 71 trucks.")
    removed, inserted = (
        '<span class="visually-hidden">removed: </span>',
        '<span class="visually-hidden">inserted: </span>',
    )
    assert f"Runs <del>{removed}64</del> <ins>{inserted}71</ins> trucks." in page


def test_unchanged_paragraphs_are_folded() -> None:
    page = rendered("One.\n\nTwo.\n\nThree.", "One.\n\nTwo.\n\nFour.")
    assert '<summary class="more">2 paragraphs unchanged</summary>' in page
    assert page.count("<p>Two.") == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("One.", "One.", "No differences."),
        (None, "", "Both are empty."),
        ("One two", "One\n\ntwo", "Only whitespace differs."),
    ],
)
def test_texts_that_differ_in_no_word_have_a_note(
    old: str | None, new: str | None, sentence: str
) -> None:
    page = rendered(old, new)
    assert sentence in page
    assert "<ins>" not in page + rendered(new, old)


def test_the_service_s_text_is_never_markup() -> None:
    page = rendered("<script>alert(1)</script> a", "<img src=x> b")
    assert "<script" not in page
    assert "<img" not in page


def test_removing_the_last_paragraph_leaves_the_one_before_unchanged() -> None:
    difference = compare_texts("One two.\n\nThree four.", "One two.")
    assert [paragraph.is_same for paragraph in difference.paragraphs] == [True, False]
    assert marks(difference) == [("del", "Three four.")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "Pay Oslo",
            "Pay \u202eOslo",
            "removed: Oslo inserted: U+202E right-to-left override Oslo",
        ),
        ("a\u200bb", "ab", "removed: a U+200B zero width space b inserted: ab"),
        ("co\u00adop", "coop", "removed: co U+00AD soft hyphen op inserted: coop"),
        ("caf\u00e9", "cafe\u0301", "inserted: cafe\u0301 U+0301 combining acute accent"),
        ("x\u200cy", "x\u200dy", "x U+200C zero width non-joiner y"),
        # Unchanged, but it would reverse the words beside it.
        ("\u202eA b", "\u202eA c", "U+202E right-to-left override"),
    ],
)
def test_invisible_characters_are_named_in_place(old: str, new: str, words: str) -> None:
    page = " ".join(text(rendered(old, new)).split())
    assert words in page
    assert "\u202e" not in page
    both = text(str(macros().diff_sides(compare_texts(old, new), "1", "2")))
    assert words.rpartition("inserted: ")[2] in both


@pytest.mark.parametrize("plain", ["👨‍👩‍👧 ❤️", "می‌خواهم", "की ग़", "é", "\u0065\u0301 unchanged"])
def test_joiners_in_names_are_kept(plain: str) -> None:
    assert f"{plain} " in rendered(f"{plain} one", f"{plain} two")
    assert "U+" not in rendered("👩‍🚀", "👨‍👩‍👧 ❤️ की ग़ é")
