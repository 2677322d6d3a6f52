"""Split two texts into units, and align the units that both share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import LCSseq

_PUNCTUATION = (
    r"!-/:-@\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    r"\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff0f\uff1a-\uff20"
)
# Scripts written without spaces: each character counts as a word.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTERS = rf"[^\s{_PUNCTUATION}{_UNSPACED}]+"


class DiffGranularity(StrEnum):
    WORD = "word"
    LINE = "line"
    WHOLE = "whole"


UNITS = {
    # Letters, also compounds such as `mother-in-law`, `don't`, `1,204.50`; else one character.
    DiffGranularity.WORD: re.compile(
        rf"{_LETTERS}(?:[-'’_]{_LETTERS}|(?<=\d)[.,:](?=\d){_LETTERS})*|[{_UNSPACED}]|\S"
    ),
    DiffGranularity.LINE: re.compile(r"\S[^\n]*"),
    DiffGranularity.WHOLE: re.compile(r"\S(?s:.*)"),
}
_ENDS_SENTENCE = frozenset(".!?:;。！？")

MAX_UNIT_PAIRS = 600_000_000
"""Limit for the product of both texts' unit counts. Each pair takes one bit of memory: 75 MB for
22,000 words in each text."""

MAX_SHIFT = 200
"""Maximum shift of a change, in units. Bounds the time for texts that repeat one word."""


@dataclass(frozen=True)
class Unit:
    """A unit of comparison, and the spacing before it."""

    gap: str
    text: str


@dataclass(frozen=True)
class MatchingBlock:
    """`size` units that both texts share, from these indexes on."""

    old: int
    new: int
    size: int


def split_units(old: str, new: str) -> tuple[DiffGranularity, list[Unit], list[Unit]]:
    """Split both texts at the finest granularity that bounds time and memory."""
    for granularity in DiffGranularity:  # the last one has two units at most
        old_units, new_units = _units(old, granularity), _units(new, granularity)
        if len(old_units) * len(new_units) <= MAX_UNIT_PAIRS:
            break
    return granularity, old_units, new_units


def changed_units(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the units that only the old text has, and those that only the new one has."""
    for granularity in DiffGranularity:  # as in `split_units`, but without spacing
        old_units, new_units = UNITS[granularity].findall(old), UNITS[granularity].findall(new)
        if len(old_units) * len(new_units) <= MAX_UNIT_PAIRS:
            break
    changes = [step for step in LCSseq.opcodes(old_units, new_units) if step.tag != "equal"]
    return (
        [unit for step in changes for unit in old_units[step.src_start : step.src_end]],
        [unit for step in changes for unit in new_units[step.dest_start : step.dest_end]],
    )


def _units(text: str, granularity: DiffGranularity) -> list[Unit]:
    """Return the units, with an empty one at the end."""
    units, end = [], 0
    for match in UNITS[granularity].finditer(text):
        units.append(Unit(text[end : match.start()], match.group()))
        end = match.end()
    return [*units, Unit(text[end:], "")]


def matching_blocks(old: Sequence[Unit], new: Sequence[Unit]) -> list[MatchingBlock]:
    numbers: dict[str, int] = {}
    old_numbers = [numbers.setdefault(unit.text, len(numbers)) for unit in old]
    new_numbers = [numbers.setdefault(unit.text, len(numbers)) for unit in new]
    blocks = [
        MatchingBlock(step.src_start, step.dest_start, step.src_end - step.src_start)
        for step in LCSseq.opcodes(old_numbers, new_numbers)
        if step.tag == "equal"
    ]
    return _shift_changes_to_starts(blocks, old, new)


def _shift_changes_to_starts(
    blocks: list[MatchingBlock], old: Sequence[Unit], new: Sequence[Unit]
) -> list[MatchingBlock]:
    """Move each change to the start of a sentence or paragraph, if the result is equivalent.

    From `The cat.` to `The dog ran. The cat.`, the change is `The dog ran.`, not `dog ran. The`.
    """
    done: list[MatchingBlock] = []
    rest = list(blocks)
    while rest:
        after = rest.pop()
        if rest:
            before = rest.pop()
            shift = _shift(before, after, old, new)
            after = MatchingBlock(after.old - shift, after.new - shift, after.size + shift)
            if shift < before.size:
                rest.append(MatchingBlock(before.old, before.new, before.size - shift))
            else:  # the change reached the one before it: treat both as one
                rest.append(after)
                continue
        done.append(after)
    return done[::-1]


def _shift(
    before: MatchingBlock, after: MatchingBlock, old: Sequence[Unit], new: Sequence[Unit]
) -> int:
    """Return by how many units the change between two blocks should move back.

    Negative if it should move forward.
    """
    old_end, new_end = before.old + before.size, before.new + before.size
    if old_end == after.old:
        units, start, end = new, new_end, after.new
    elif new_end == after.new:
        units, start, end = old, old_end, after.old
    else:
        return 0
    back = _equal_steps(units, start - 1, end - 1, step=-1, limit=before.size)
    forward = _equal_steps(units, start, end, step=1, limit=after.size - 1)
    shifts = sorted(range(-forward, back + 1), key=abs)
    best = max(shifts, key=lambda shift: _start_score(units, start - shift))
    # If no position is better and the whole block before can move, there is one change fewer.
    is_plain = not _start_score(units, start - best)
    return before.size if is_plain and back == before.size else best


def _equal_steps(units: Sequence[Unit], first: int, second: int, *, step: int, limit: int) -> int:
    """Return for how many steps the units from both indexes are equal, at most MAX_SHIFT."""
    for length in range(limit := min(limit, MAX_SHIFT)):
        if units[first + step * length].text != units[second + step * length].text:
            return length
    return limit


def _start_score(units: Sequence[Unit], index: int) -> int:
    """Return 2 at the start of a paragraph, 1 at the start of a sentence, else 0."""
    if index == 0 or "\n" in units[index].gap:
        return 2
    return int(units[index - 1].text in _ENDS_SENTENCE)
