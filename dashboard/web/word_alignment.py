"""Two texts as units, and the units that both share: what a comparison by word rests on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import LCSseq

_PUNCTUATION = (
    r"!-/:-@\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    r"\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff0f\uff1a-\uff20"
)
# Scripts written without spaces: there a character is the nearest thing to a word.
_ALONE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTERS = rf"[^\s{_PUNCTUATION}{_ALONE}]+"


class Grain(StrEnum):
    """How finely two texts are compared."""

    WORD = "word"
    LINE = "line"
    WHOLE = "whole"


UNITS = {
    # Letters, also joined as in `mother-in-law`, `don't`, `1,204.50`; else one character.
    Grain.WORD: re.compile(
        rf"{_LETTERS}(?:[-'’_]{_LETTERS}|(?<=\d)[.,:](?=\d){_LETTERS})*|[{_ALONE}]|\S"
    ),
    Grain.LINE: re.compile(r"\S[^\n]*"),
    Grain.WHOLE: re.compile(r"\S(?s:.*)"),
}
_ENDS_SENTENCE = frozenset(".!?:;。！？")

LIMIT_UNIT_PAIRS = 600_000_000
"""Units of one text times units of the other, one bit of memory each: 75 MB. Some 22,000 words."""

FARTHEST_SHIFT = 200
"""Units a change is moved by at most, so that texts of one word repeated take no longer."""


@dataclass(frozen=True)
class Unit:
    """What is compared, and the spacing before it."""

    gap: str
    text: str


@dataclass(frozen=True)
class Kept:
    """`size` units found in both texts, from these places on."""

    old: int
    new: int
    size: int


def units_of_both(old: str, new: str) -> tuple[Grain, list[Unit], list[Unit]]:
    """Return both texts in the finest grain that can be compared in bounded time and memory."""
    for grain in (Grain.WORD, Grain.LINE):
        old_units, new_units = _units(old, grain), _units(new, grain)
        if len(old_units) * len(new_units) <= LIMIT_UNIT_PAIRS:
            return grain, old_units, new_units
    return Grain.WHOLE, _units(old, Grain.WHOLE), _units(new, Grain.WHOLE)


def _units(text: str, grain: Grain) -> list[Unit]:
    """Return the units, and a last one without text, which every text ends in."""
    units, end = [], 0
    for found in UNITS[grain].finditer(text):
        units.append(Unit(text[end : found.start()], found.group()))
        end = found.end()
    return [*units, Unit(text[end:], "")]


def kept_units(old: Sequence[Unit], new: Sequence[Unit]) -> list[Kept]:
    """Return the units that both share: as many as can be, in order."""
    numbers: dict[str, int] = {}
    old_numbers = [numbers.setdefault(unit.text, len(numbers)) for unit in old]
    new_numbers = [numbers.setdefault(unit.text, len(numbers)) for unit in new]
    found = LCSseq.opcodes(old_numbers, new_numbers)
    kept = [
        Kept(step.src_start, step.dest_start, step.src_end - step.src_start)
        for step in found
        if step.tag == "equal"
    ]
    return _with_changes_at_starts(kept, old, new)


def _with_changes_at_starts(
    kept: list[Kept], old: Sequence[Unit], new: Sequence[Unit]
) -> list[Kept]:
    """Move each change to where a sentence or a paragraph starts, if it means the same.

    Between `The cat.` and `The dog ran. The cat.` that is `The dog ran.`, not `dog ran. The`.
    """
    done: list[Kept] = []
    rest = list(kept)
    while rest:
        after = rest.pop()
        if rest:
            before = rest.pop()
            shift = _shift(before, after, old, new)
            after = Kept(after.old - shift, after.new - shift, after.size + shift)
            if shift < before.size:
                rest.append(Kept(before.old, before.new, before.size - shift))
            else:  # the change ran into the one before it: look at both as one
                rest.append(after)
                continue
        done.append(after)
    return done[::-1]


def _shift(before: Kept, after: Kept, old: Sequence[Unit], new: Sequence[Unit]) -> int:
    """Return by how many units the change between two kept runs should move back.

    Negative where it should move on.
    """
    old_end, new_end = before.old + before.size, before.new + before.size
    if old_end == after.old:
        units, start, end = new, new_end, after.new
    elif new_end == after.new:
        units, start, end = old, old_end, after.old
    else:
        return 0
    back = _how_far(units, start - 1, end - 1, step=-1, limit=before.size)
    on = _how_far(units, start, end, step=1, limit=after.size - 1)
    shifts = sorted(range(-on, back + 1), key=abs)
    best = max(shifts, key=lambda shift: _how_much_a_start(units, start - shift))
    # Where no place is better and the whole run before can move, that is one change less.
    is_plain = not _how_much_a_start(units, start - best)
    return before.size if is_plain and back == before.size else best


def _how_far(units: Sequence[Unit], one: int, other: int, *, step: int, limit: int) -> int:
    """Return for how many steps both places hold the same units, `limit` or 200 at most."""
    for length in range(limit := min(limit, FARTHEST_SHIFT)):
        if units[one + step * length].text != units[other + step * length].text:
            return length
    return limit


def _how_much_a_start(units: Sequence[Unit], index: int) -> int:
    if index == 0 or "\n" in units[index].gap:
        return 2
    return int(units[index - 1].text in _ENDS_SENTENCE)
