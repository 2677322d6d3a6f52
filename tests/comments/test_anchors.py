"""Anchors carry a passage to another text by its words, or report it as removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.comments.anchors import PlacementStatus, anchor_in, place_passages
from dashboard.word_alignment import UNITS, DiffGranularity

pytestmark = pytest.mark.same_on_any_database

OLD = "Pricing: offer the 12-month plan. No discount has been approved. Call in May."


def words_in(text: str) -> list[str]:
    units = UNITS[DiffGranularity.WORD].findall(text)
    return [unit for unit in units if any(letter.isalnum() for letter in unit)]


def carried(passage: str, new: str, old: str = OLD) -> tuple[PlacementStatus, str]:
    start = old.index(passage)
    range_ = (start, start + len(passage))
    placement = place_passages(old, new, [range_])[range_]
    return placement.status, new[placement.start : placement.end]


def test_text_added_before_does_not_move_the_mark() -> None:
    new = f"A new first paragraph, with a discount.\n\n{OLD}"
    assert carried("discount has been", new) == (PlacementStatus.SAME, "discount has been")


def test_text_deleted_is_said_to_be_removed() -> None:
    new = OLD.replace(" No discount has been approved.", "")
    assert carried("No discount has been approved", new) == (PlacementStatus.REMOVED, "")


def test_half_of_the_words_kept_counts_as_changed() -> None:
    new = OLD.replace("No discount has been approved", "A discount of 8% has been approved")
    assert carried("No discount has been approved", new) == (
        PlacementStatus.CHANGED,
        "has been approved",
    )


def test_less_than_half_of_the_words_is_removed() -> None:
    new = OLD.replace("No discount has been approved", "No rebate was given")
    assert carried("No discount has been approved", new) == (PlacementStatus.REMOVED, "")


def test_the_same_words_elsewhere_are_not_searched() -> None:
    moved, rest = (
        " No discount has been approved.",
        " Ask for the tender, and write to the manager.",
    )
    new = OLD.replace(moved, "") + rest + moved
    assert carried("discount has been", new, OLD + rest) == (PlacementStatus.REMOVED, "")


def test_spacing_alone_leaves_the_words_the_same() -> None:
    new = OLD.replace("discount has", "discount\n\nhas")
    assert carried("discount has been", new) == (PlacementStatus.SAME, "discount\n\nhas been")


def test_a_range_without_a_word_is_no_anchor() -> None:
    assert anchor_in("a … b", 2, 3) is None
    assert anchor_in("a … b", 9, 12) is None


_WORDS = st.lists(st.sampled_from([*"abcde", "é", "🚚", ".", ",", "\n", "8%", "日本"]), max_size=14)


@given(old=_WORDS, new=_WORDS, data=st.data())
def test_a_mark_never_covers_other_words(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    before, after = " ".join(old), " ".join(new)
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    anchor = anchor_in(before, start, end)
    if anchor is None:
        return
    passage = before[anchor.start : anchor.end]
    range_ = (anchor.start, anchor.end)
    placement = place_passages(before, after, [range_])[range_]
    marked = after[placement.start : placement.end]
    match placement.status:
        case PlacementStatus.SAME:
            assert marked.split() == passage.split()
        case PlacementStatus.CHANGED:
            rest = iter(words_in(passage))
            assert all(word in rest for word in words_in(marked))  # in their order
            assert 2 * len(words_in(marked)) >= len(words_in(passage))
        case PlacementStatus.REMOVED:
            assert marked == ""
