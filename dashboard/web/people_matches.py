"""Where the words of a search stand in a person's fields.

The service decides who matches (spec, Search people: not shown how). What is marked is only
what can be seen: each word of the query, in any case, within one field.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dashboard.contract.people import Person

SEARCHED = ("name", "email", "domain", "slug", "phone_number")
"""The fields that are looked at. Source: DESIGN.md, Search."""
MARKED_CHARACTERS = 2_000
"""How much of one field is looked at; the rest of a longer one stays as it is."""


class Piece(NamedTuple):
    """A stretch of a text, and whether words of the query make it up."""

    text: str
    is_match: bool = False


@dataclass(frozen=True)
class Marked:
    """What a query's words find in one person."""

    person: Person
    words: Sequence[str]

    def pieces(self, name: str) -> list[Piece]:
        """Return the pieces of one of `SEARCHED`; none where it is absent or empty."""
        return self._texts[name].pieces(self.words)

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The fields that hold each word."""
        texts = self._texts.items()
        return {word: {name for name, text in texts if word in text.folded} for word in self.words}

    @cached_property
    def _texts(self) -> dict[str, "_Folded"]:
        return {name: _Folded.of(getattr(self.person, name) or "") for name in SEARCHED}

    @property
    def unseen(self) -> list[str]:
        """The words that stand in no field."""
        return [word for word, fields in self.places.items() if not fields]

    @property
    def is_all_in_name_or_email(self) -> bool:
        """Whether each word stands where it is seen at any width."""
        return all(fields & {"name", "email"} for fields in self.places.values())

    def found_beyond(self, *shown: str) -> list[str]:
        """Return the fields that hold a word which none of the shown ones holds."""
        held = (fields for fields in self.places.values() if not fields.intersection(shown))
        beyond = set[str]().union(*held)
        return [name for name in SEARCHED if name in beyond]


def pieces_of(text: str, query: str) -> list[Piece]:
    """Cut a text at the words of a query; joined, the pieces are the text."""
    return _Folded.of(text).pieces(words_of(query))


def words_of(query: str) -> list[str]:
    """Return the words of a query as they are compared, each once."""
    return list(dict.fromkeys(fold(query).split())) if query else []


def fold(text: str) -> str:
    """Return a text as it is compared: without case, in one form of each letter."""
    # Twice: a letter may lie in parts without case ("ΐ"), which its capital is put together from.
    return _without_case(_without_case(text))


def _without_case(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True)
class _Folded:
    """A text as it is compared, and where each letter of that stood."""

    text: str
    folded: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "_Folded":
        if text.isascii():
            length = min(len(text), MARKED_CHARACTERS)
            return cls(text, text[:length].lower(), range(length), range(1, length + 1))
        folded: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for start, end in _letters(text[:MARKED_CHARACTERS]):
            # A letter may fold to several ("ß" is "ss"), and a mark joins the letter before it.
            letter = fold(text[start:end])
            folded.append(letter)
            starts += [start] * len(letter)
            ends += [end] * len(letter)
        return cls(text, "".join(folded), starts, ends)

    def pieces(self, words: Iterable[str]) -> list[Piece]:
        pieces: list[Piece] = []
        at = 0
        for start, end in _joined(self._places(words)):
            pieces += [Piece(self.text[at:start]), Piece(self.text[start:end], is_match=True)]
            at = end
        pieces.append(Piece(self.text[at:]))
        return [piece for piece in pieces if piece.text]

    def _places(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        for word in words:
            at = self.folded.find(word)
            while at >= 0:
                yield self.starts[at], self.ends[at + len(word) - 1]
                at = self.folded.find(word, at + 1)


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each letter starts and ends, the marks upon it included."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not unicodedata.combining(text[end]):
            yield start, end
            start = end


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
