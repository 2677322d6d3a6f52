"""Two texts compared by word: what was removed, what was added, which paragraphs stayed.

A longest common subsequence keeps as many words as can be kept, so no unchanged word is marked.
Spacing is compared beside the words: it is part of the pieces, and alone never a difference to
look at. Source: our choice; the service shows no difference of its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, zip_longest
from typing import Literal

from dashboard.web.word_alignment import UNITS, Grain, Unit, kept_units, units_of_both

Kind = Literal["same", "del", "ins"]

_LINES = re.compile(r"[^\n]*\n(?:[^\S\n]*\n)*|[^\n]+")


@dataclass(frozen=True)
class Piece:
    """A stretch of text that was kept, removed or added."""

    kind: Kind
    text: str
    is_instead: bool = False
    """Whether it was added in the place of what was removed just before it."""

    @property
    def is_visible(self) -> bool:
        """Whether there is more to it than spacing."""
        return not self.text.isspace()

    @property
    def before(self) -> str:
        """The spacing at its start: drawn beside the mark, not in it."""
        return self.text[: len(self.text) - len(self.text.lstrip())] if self.is_visible else ""

    @property
    def words(self) -> str:
        """The text without the spacing around it; spacing alone is all there is."""
        return self.text.strip() or self.text

    @property
    def after(self) -> str:
        """The spacing at its end."""
        return self.text[len(self.text.rstrip()) :] if self.is_visible else ""


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of both texts; its line break belongs to it."""

    pieces: tuple[Piece, ...]

    @cached_property
    def is_same(self) -> bool:
        """Whether there is no difference to look at: other spacing is none."""
        return not any(piece.kind != "same" and piece.is_visible for piece in self.pieces)

    @property
    def old(self) -> list[Piece]:
        """The paragraph before."""
        return [piece for piece in self.pieces if piece.kind != "ins"]

    @property
    def new(self) -> list[Piece]:
        """The paragraph after."""
        return [piece for piece in self.pieces if piece.kind != "del"]


@dataclass(frozen=True)
class TextDifference:
    """What it takes to get from one text to the other."""

    paragraphs: tuple[Paragraph, ...]
    added: int
    """Words."""
    removed: int
    """Words."""
    is_same: bool
    """Whether the texts are equal to the last space."""
    grain: Grain = Grain.WORD
    """Coarser than words where the texts are too long for that."""

    @property
    def is_empty(self) -> bool:
        """Whether neither text has anything but spacing in it."""
        return not self.paragraphs or not any(
            piece.is_visible for paragraph in self.paragraphs for piece in paragraph.pieces
        )

    @property
    def is_spacing(self) -> bool:
        """Whether the texts differ in their spacing alone."""
        return not self.is_same and self.unchanged == len(self.paragraphs)

    @property
    def unchanged(self) -> int:
        """How many of the paragraphs have no difference to look at."""
        return sum(paragraph.is_same for paragraph in self.paragraphs)


def compare_texts(old: str | None, new: str | None) -> TextDifference:
    """Compare two texts by word; None is read as no text.

    The kept and removed pieces joined are the old text, the kept and added ones the new.
    Texts of more than about 22,000 words are compared by line, very long ones as a whole.
    """
    before, after = old or "", new or ""
    if before == after:
        same = tuple(Paragraph((Piece("same", line),)) for line in _LINES.findall(after))
        return TextDifference(same, added=0, removed=0, is_same=True)
    grain, old_units, new_units = units_of_both(before, after)
    pieces = _joined(_pieces(old_units, new_units))
    return TextDifference(
        tuple(_paragraphs(pieces)),
        added=sum(_count_words(piece.text) for piece in pieces if piece.kind == "ins"),
        removed=sum(_count_words(piece.text) for piece in pieces if piece.kind == "del"),
        is_same=False,
        grain=grain,
    )


def _count_words(text: str) -> int:
    found = UNITS[Grain.WORD].findall(text)
    return sum(any(letter.isalnum() for letter in unit) for unit in found)


def _pieces(old: Sequence[Unit], new: Sequence[Unit]) -> Iterator[Piece]:
    old_at = new_at = 0
    for kept in kept_units(old, new):
        for step in range(kept.size):
            old_end, new_end = kept.old + step, kept.new + step
            yield from _change(
                _text(old[old_at:old_end]) + old[old_end].gap,
                _text(new[new_at:new_end]) + new[new_end].gap,
            )
            yield Piece("same", new[new_end].text)
            old_at, new_at = old_end + 1, new_end + 1


def _text(units: Sequence[Unit]) -> str:
    return "".join(unit.gap + unit.text for unit in units)


def _change(old: str, new: str) -> Iterator[Piece]:
    """Return what stands before a kept unit: the spacing that both share stays outside."""
    start = _shared_spacing(old, new)
    end = _shared_spacing(old[start:][::-1], new[start:][::-1])
    yield Piece("same", new[:start])
    yield Piece("del", old[start : len(old) - end])
    yield Piece("ins", new[start : len(new) - end])
    yield Piece("same", new[len(new) - end :])


def _shared_spacing(one: str, other: str) -> int:
    for length, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b or not a.isspace():
            return length
    return min(len(one), len(other))


def _joined(pieces: Iterator[Piece]) -> list[Piece]:
    """Join neighbours of one kind; between two kept ones, what was removed comes first."""
    joined: list[Piece] = []
    for is_kept, run in groupby(
        (piece for piece in pieces if piece.text), key=lambda piece: piece.kind == "same"
    ):
        members = list(run)
        kinds: tuple[Kind, ...] = ("same",) if is_kept else ("del", "ins")
        texts = {kind: "".join(p.text for p in members if p.kind == kind) for kind in kinds}
        is_both = all(texts.values())
        joined += [
            Piece(kind, text, is_instead=is_both and kind == "ins")
            for kind, text in texts.items()
            if text
        ]
    return joined


def _paragraphs(pieces: Sequence[Piece]) -> Iterator[Paragraph]:
    """Cut the pieces at line breaks. Spacing alone is no paragraph: it goes with the one before."""
    waiting: list[Piece] = []
    current: list[Piece] = []
    for ends, line in _lines(pieces):
        current += line
        if ends:
            if waiting and any(piece.is_visible for piece in current):
                yield Paragraph(tuple(waiting))
                waiting = []
            waiting += current
            current = []
    if waiting and any(piece.is_visible for piece in current):
        yield Paragraph(tuple(waiting))
        waiting = []
    if waiting or current:
        yield Paragraph((*waiting, *current))


def _lines(pieces: Sequence[Piece]) -> Iterator[tuple[bool, list[Piece]]]:
    """Cut the pieces at line breaks, each with whether it ends in one.

    Removed and added lines side by side are paired, first with first.
    """
    for is_kept, run in groupby(pieces, key=lambda piece: piece.kind == "same"):
        by_kind = [[replace(p, text=text) for text in _LINES.findall(p.text)] for p in run]
        rows = [[line] for line in by_kind[0]] if is_kept else zip_longest(*by_kind)
        for row in rows:
            line = [piece for piece in row if piece]
            yield any(piece.text.endswith("\n") for piece in line), line
