"""Highlight the words of a search in a text. Case and accents are ignored."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from dashboard.texts import fold

MAX_SEARCHED_CHARACTERS = 2_000
"""Matches are marked only within this many characters from the start of a text."""


class TextSegment(NamedTuple):
    text: str
    is_match: bool = False


def marked(text: str, query: str) -> SafeString:
    return render_segments(split_at_matches(text, query))


def render_segments(segments: Iterable[TextSegment]) -> SafeString:
    html = ""
    for text, is_match in segments:
        html += f"<mark>{escape(text)}</mark>" if is_match else escape(text)
    return mark_safe(html)  # noqa: S308  # each is escaped


def split_at_matches(text: str, query: str) -> list[TextSegment]:
    """Split a text at the words of a query. Joined, the segments give the text."""
    return FoldedText.from_text(text).segments(query_words(query))


def query_words(query: str) -> list[str]:
    return list(dict.fromkeys(fold(query).split())) if query else []


@dataclass(frozen=True)
class FoldedText:
    """A text folded for search, with each folded letter's position in the original."""

    text: str
    folded: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def from_text(cls, text: str) -> "FoldedText":
        if text.isascii():
            length = min(len(text), MAX_SEARCHED_CHARACTERS)
            return cls(text, text[:length].lower(), range(length), range(1, length + 1))
        folded: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for start, end in _letters(text[:MAX_SEARCHED_CHARACTERS]):
            # A letter may fold to several, as "ß" to "ss". A combining mark belongs to its letter.
            letter = fold(text[start:end])
            folded.append(letter)
            starts += [start] * len(letter)
            ends += [end] * len(letter)
        return cls(text, "".join(folded), starts, ends)

    def segments(self, words: Iterable[str]) -> list[TextSegment]:
        segments: list[TextSegment] = []
        at = 0
        for start, end in _merge_ranges(self._matches(words)):
            if at < start:
                segments.append(TextSegment(self.text[at:start]))
            segments.append(TextSegment(self.text[start:end], is_match=True))
            at = end
        if at < len(self.text):
            segments.append(TextSegment(self.text[at:]))
        return segments

    def _matches(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        for word in words:
            at = self.folded.find(word)
            while at >= 0:
                yield self.starts[at], self.ends[at + len(word) - 1]
                at = self.folded.find(word, at + 1)


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each letter, including its combining marks."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not unicodedata.combining(text[end]):
            yield start, end
            start = end


def _merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
