"""Diff of two texts by word: removed and added words, unchanged paragraphs.

Words are aligned by a longest common subsequence, so as few as possible are marked as changed.
Spacing is compared separately. It belongs to the segments, and a change of spacing alone is not
shown. Source: our choice; the service gives no diff of its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Literal

from django.utils.functional import cached_property

from dashboard.word_alignment import (
    UNITS,
    DiffGranularity,
    Unit,
    changed_units,
    matching_blocks,
    split_units,
)

Kind = Literal["same", "del", "ins"]

EXCERPT_BEFORE, EXCERPT_FROM = 60, 140
"""Characters of an excerpt before its first change, and from there on. Source: our choice."""

_LINES = re.compile(r"[^\n]*\n(?:[^\S\n]*\n)*|[^\n]+")


@dataclass(frozen=True)
class DiffSegment:
    """A segment of text that is the same, removed or added."""

    kind: Kind
    text: str
    is_replacement: bool = False
    """Whether it replaces the removed segment just before it."""

    @property
    def is_visible(self) -> bool:
        """Whether it contains more than spacing."""
        return not self.text.isspace()

    @property
    def before(self) -> str:
        """The spacing at its start, rendered outside the mark."""
        return self.text[: len(self.text) - len(self.text.lstrip())] if self.is_visible else ""

    @property
    def words(self) -> str:
        """The text without the spacing around it; all of it if there is only spacing."""
        return self.text.strip() or self.text

    @property
    def after(self) -> str:
        """The spacing at its end."""
        return self.text[len(self.text.rstrip()) :] if self.is_visible else ""


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of both texts, including its line break."""

    segments: tuple[DiffSegment, ...]

    @cached_property
    def is_same(self) -> bool:
        """Whether nothing but spacing differs."""
        return not any(segment.kind != "same" and segment.is_visible for segment in self.segments)

    @property
    def old(self) -> list[DiffSegment]:
        """The segments of the old paragraph."""
        return [segment for segment in self.segments if segment.kind != "ins"]

    @property
    def new(self) -> list[DiffSegment]:
        """The segments of the new paragraph."""
        return [segment for segment in self.segments if segment.kind != "del"]


@dataclass(frozen=True)
class TextDifference:
    """The diff of two texts."""

    paragraphs: tuple[Paragraph, ...]
    added: int
    """Number of added words."""
    removed: int
    """Number of removed words."""
    is_same: bool
    """Whether the texts are equal, spacing included."""
    granularity: DiffGranularity = DiffGranularity.WORD
    """Coarser than words if the texts are too long for that."""

    @property
    def is_empty(self) -> bool:
        """Whether both texts are empty but for spacing."""
        segments = (segment for paragraph in self.paragraphs for segment in paragraph.segments)
        return not any(segment.is_visible for segment in segments)

    @property
    def is_whitespace_only(self) -> bool:
        """Whether the texts differ in spacing alone."""
        return not self.is_same and self.unchanged == len(self.paragraphs)

    @property
    def runs(self) -> list[tuple[bool, list[Paragraph]]]:
        """The adjacent paragraphs with the same `is_same`, in order."""
        return [(key, list(run)) for key, run in groupby(self.paragraphs, attrgetter("is_same"))]

    @property
    def excerpt(self) -> list[DiffSegment]:
        """The segments around the first change, cut to some 200 characters; else empty."""
        changed = (paragraph.segments for paragraph in self.paragraphs if not paragraph.is_same)
        segments = next(changed, ())
        is_change = [segment.kind != "same" and segment.is_visible for segment in segments]
        first = is_change.index(True) if segments else 0
        before = "".join(segment.text for segment in segments[:first])
        is_cut = len(before) > EXCERPT_BEFORE
        excerpt = [DiffSegment("same", "…" * is_cut + before[-EXCERPT_BEFORE:])] if before else []
        left = EXCERPT_FROM
        for segment in segments[first:]:
            excerpt.append(replace(segment, text=segment.text[:left]))
            left -= len(segment.text)
            if left < 0:
                return [*excerpt, DiffSegment("same", "…")]
        return excerpt

    @property
    def unchanged(self) -> int:
        """The number of paragraphs in which nothing but spacing differs."""
        return sum(paragraph.is_same for paragraph in self.paragraphs)


def compare_texts(old: str | None, new: str | None) -> TextDifference:
    """Compare two texts by word; None counts as empty.

    The unchanged and removed segments join to the old text, the unchanged and added ones to the new
    text. Texts of more than about 22,000 words are compared by line, very long ones as a whole.
    """
    before, after = old or "", new or ""
    if before == after:
        same = tuple(Paragraph((DiffSegment("same", line),)) for line in _LINES.findall(after))
        return TextDifference(same, added=0, removed=0, is_same=True)
    granularity, old_units, new_units = split_units(before, after)
    segments = _merge_runs(_segments(old_units, new_units))
    return TextDifference(
        tuple(_paragraphs(segments)),
        added=sum(_count_words(segment.text) for segment in segments if segment.kind == "ins"),
        removed=sum(_count_words(segment.text) for segment in segments if segment.kind == "del"),
        is_same=False,
        granularity=granularity,
    )


def count_changes(old: str, new: str) -> tuple[int, int]:
    """Return how many words are added and removed, as `compare_texts` counts them.

    It takes a tenth of the time, because nothing is marked.
    """
    removed, added = changed_units(old, new)
    return sum(map(_count_words, added)), sum(map(_count_words, removed))


def _count_words(text: str) -> int:
    units = UNITS[DiffGranularity.WORD].findall(text)
    return sum(any(letter.isalnum() for letter in unit) for unit in units)


def _segments(old: Sequence[Unit], new: Sequence[Unit]) -> Iterator[DiffSegment]:
    old_at = new_at = 0
    for block in matching_blocks(old, new):
        for step in range(block.size):
            old_end, new_end = block.old + step, block.new + step
            yield from _change(
                _text(old[old_at:old_end]) + old[old_end].gap,
                _text(new[new_at:new_end]) + new[new_end].gap,
            )
            yield DiffSegment("same", new[new_end].text)
            old_at, new_at = old_end + 1, new_end + 1


def _text(units: Sequence[Unit]) -> str:
    return "".join(unit.gap + unit.text for unit in units)


def _change(old: str, new: str) -> Iterator[DiffSegment]:
    """Yield the change before an unchanged unit, without the spacing that both texts share."""
    start = _shared_spacing(old, new)
    end = _shared_spacing(old[start:][::-1], new[start:][::-1])
    yield DiffSegment("same", new[:start])
    yield DiffSegment("del", old[start : len(old) - end])
    yield DiffSegment("ins", new[start : len(new) - end])
    yield DiffSegment("same", new[len(new) - end :])


def _shared_spacing(before: str, after: str) -> int:
    for length, (a, b) in enumerate(zip(before, after, strict=False)):
        if a != b or not a.isspace():
            return length
    return min(len(before), len(after))


def _merge_runs(segments: Iterator[DiffSegment]) -> list[DiffSegment]:
    """Merge adjacent segments. At most one removed and one added stay between unchanged ones."""
    merged: list[DiffSegment] = []
    for is_same, run in groupby(
        (segment for segment in segments if segment.text),
        key=lambda segment: segment.kind == "same",
    ):
        members = list(run)
        kinds: tuple[Kind, ...] = ("same",) if is_same else ("del", "ins")
        texts = {kind: "".join(p.text for p in members if p.kind == kind) for kind in kinds}
        is_both = all(texts.values())
        merged += [
            DiffSegment(kind, text, is_replacement=is_both and kind == "ins")
            for kind, text in texts.items()
            if text
        ]
    return merged


def _paragraphs(segments: Sequence[DiffSegment]) -> Iterator[Paragraph]:
    """Split the segments at line breaks; blank lines join the paragraph before them."""
    waiting: list[DiffSegment] = []
    current: list[DiffSegment] = []
    for ends, line in _lines(segments):
        current += line
        if ends:
            if waiting and any(segment.is_visible for segment in current):
                yield Paragraph(tuple(waiting))
                waiting = []
            waiting += current
            current = []
    if waiting and any(segment.is_visible for segment in current):
        yield Paragraph(tuple(waiting))
        waiting = []
    if waiting or current:
        yield Paragraph((*waiting, *current))


def _lines(segments: Sequence[DiffSegment]) -> Iterator[tuple[bool, list[DiffSegment]]]:
    """Split the segments at line breaks; yield whether a line ends in a break, and the line.

    Adjacent removed and added lines are paired in order.
    """
    for is_same, run in groupby(segments, key=lambda segment: segment.kind == "same"):
        by_kind = [[replace(p, text=text) for text in _LINES.findall(p.text)] for p in run]
        rows = [[line] for line in by_kind[0]] if is_same else zip_longest(*by_kind)
        for row in rows:
            line = [segment for segment in row if segment]
            yield any(segment.text.endswith("\n") for segment in line), line
