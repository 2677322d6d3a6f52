"""Anchors mark the words that a thread is about, and are carried to other texts. Pure.

One alignment of the commented text with the other text says where the words are. They are never
searched for anywhere else.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import accumulate, takewhile

from dashboard.word_alignment import UNITS, DiffGranularity, Unit, matching_blocks, split_units

MAX_QUOTE = 300
"""Maximum length in characters. Source: our choice."""


class PlacementStatus(StrEnum):
    """What happened to the words of a passage in another text. Source: our choice."""

    SAME = "same"
    """The passage is there unchanged, in one piece."""
    CHANGED = "changed"
    """At least half of the words are there, in one piece. Punctuation doesn't count."""
    REMOVED = "removed"


@dataclass(frozen=True)
class Placement:
    status: str
    """One of PlacementStatus."""
    start: int = 0
    """`start` and `end` are offsets in the other text, in characters; both 0 if removed."""
    end: int = 0


@dataclass(frozen=True)
class Anchor:
    start: int
    end: int
    quote: str
    text_digest: str
    """The digest of the whole text."""


Range = tuple[int, int]


def text_digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def anchor_in(text: str, start: int, end: int) -> Anchor | None:
    """Return the anchor of a range of characters, extended to whole words.

    Returns None if the range contains no word.
    """
    words = [
        match
        for match in UNITS[DiffGranularity.WORD].finditer(text)
        if match.start() < end and match.end() > start
    ]
    if not any(_is_word(match.group()) for match in words):
        return None
    first, last = words[0].start(), words[-1].end()
    return Anchor(first, last, quote_of(text[first:last]), text_digest(text))


def quote_of(text: str) -> str:
    """Return a text as it is stored: truncated, without characters that a database rejects."""
    cut = text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 1]}…"
    return cut.replace("\0", "").encode(errors="replace").decode()


def place_passages(old: str, new: str, passages: Iterable[Range]) -> dict[Range, Placement]:
    """Return where passages of the old text are in the new one. The texts are aligned once."""
    if old == new:
        return {
            (start, end): Placement(PlacementStatus.SAME, start, end) for start, end in passages
        }
    granularity, old_units, new_units = split_units(old, new)
    matches = {
        block.old + step: block.new + step
        for block in matching_blocks(old_units, new_units)
        for step in range(block.size)
    }
    texts = _Aligned(old_units, new_units, matches, granularity)
    return {passage: texts.placement(*passage) for passage in passages}


class _Aligned:
    """Two texts as units. `matches` maps each old unit that is shared to its new unit."""

    def __init__(
        self,
        old: Sequence[Unit],
        new: Sequence[Unit],
        matches: dict[int, int],
        granularity: DiffGranularity,
    ) -> None:
        self._old, self._new, self._matches = old, new, matches
        self._old_ends, self._new_ends = _ends(old), _ends(new)
        self._is_by_word = granularity == DiffGranularity.WORD

    def placement(self, start: int, end: int) -> Placement:
        first = bisect_right(self._old_ends, start)
        rest = range(first, len(self._old))
        units = list(takewhile(lambda unit: self._old_start(unit) < end, rest))
        matched = [self._matches[unit] for unit in units if unit in self._matches]
        if units and len(matched) == len(units) == matched[-1] - matched[0] + 1:
            # The units are identical, so the passage has the same offsets within them.
            new_start = self._new_start(matched[0]) + start - self._old_start(units[0])
            new_end = self._new_ends[matched[-1]] - self._old_ends[units[-1]] + end
            return Placement(PlacementStatus.SAME, new_start, new_end)
        # In units longer than words, we don't know which words are the same.
        return (
            self._changed(units, matched)
            if self._is_by_word
            else Placement(PlacementStatus.REMOVED)
        )

    def _changed(self, units: Sequence[int], matched: Sequence[int]) -> Placement:
        piece = max(self._pieces(matched), key=len, default=[])
        words = sum(_is_word(self._old[unit].text) for unit in units)
        if 2 * len(piece) < words or not piece:
            return Placement(PlacementStatus.REMOVED)
        return Placement(
            PlacementStatus.CHANGED, self._new_start(piece[0]), self._new_ends[piece[-1]]
        )

    def _pieces(self, matched: Sequence[int]) -> list[list[int]]:
        """Return the matched words, grouped if only punctuation is between them."""
        pieces: list[list[int]] = []
        last = -1
        for unit in matched:
            if not _is_word(self._new[unit].text):
                continue
            if pieces and not any(_is_word(new.text) for new in self._new[last + 1 : unit]):
                pieces[-1].append(unit)
            else:
                pieces.append([unit])
            last = unit
        return pieces

    def _old_start(self, unit: int) -> int:
        return self._old_ends[unit] - len(self._old[unit].text)

    def _new_start(self, unit: int) -> int:
        return self._new_ends[unit] - len(self._new[unit].text)


def _ends(units: Sequence[Unit]) -> list[int]:
    return list(accumulate(len(unit.gap) + len(unit.text) for unit in units))


def _is_word(text: str) -> bool:
    return any(letter.isalnum() for letter in text)
