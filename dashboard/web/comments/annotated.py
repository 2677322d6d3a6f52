"""The text of a version with its threads beside the paragraphs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dashboard.comments.anchors import Placement, text_digest
from dashboard.comments.models import Thread
from dashboard.text_diff import DiffSegment, TextDifference


@dataclass(frozen=True)
class Piece:
    """A run of text of one kind that is either all in the words of threads or not at all."""

    kind: str
    """`same`, `del` or `ins`."""
    text: str
    at: int
    """The offset in the new text, in characters."""
    is_marked: bool = False
    begins: Sequence[int] = ()
    """The primary keys of the threads whose words begin here."""


@dataclass(frozen=True)
class AnnotatedParagraph:
    number: int
    start: int
    end: int
    pieces: list[Piece]
    threads: list[Thread]
    is_changed: bool

    @property
    def is_removed(self) -> bool:
        return self.start == self.end


@dataclass(frozen=True)
class AnnotatedText:
    digest: str
    paragraphs: list[AnnotatedParagraph]


def annotate(text: str, difference: TextDifference, threads: Iterable[Thread]) -> AnnotatedText:
    """Return the paragraphs of a diff with their threads. `text` is the new text of the diff."""
    placed = [
        (thread, thread.placement) for thread in threads if thread.placement and thread.is_here
    ]
    marked = [(thread.pk, words) for thread, words in placed if thread.is_open]
    paragraphs, at = [], 0
    for number, paragraph in enumerate(difference.paragraphs, 1):
        start = at
        at += sum(len(segment.text) for segment in paragraph.new)
        annotated = AnnotatedParagraph(
            number,
            start,
            at,
            list(_pieces(paragraph.segments, start, marked)),
            [thread for thread, words in placed if start <= words.start < at],
            is_changed=not paragraph.is_same,
        )
        paragraphs.append(annotated)
    return AnnotatedText(text_digest(text), paragraphs)


def _pieces(
    segments: Sequence[DiffSegment], at: int, marked: Sequence[tuple[int, Placement]]
) -> Iterator[Piece]:
    """Yield the segments of a paragraph, split where a thread's words begin or end."""
    for segment in segments:
        if segment.kind == "del":
            yield Piece("del", segment.text, at)
            continue
        end = at + len(segment.text)
        edges = {edge for _, words in marked for edge in (words.start, words.end)}
        places = sorted({at, end, *(edge for edge in edges if at < edge < end)})
        for first, last in pairwise(places):
            begins = [pk for pk, words in marked if words.start == first]
            is_marked = any(words.start <= first < words.end for _, words in marked)
            text = segment.text[first - at : last - at]
            yield Piece(segment.kind, text, first, is_marked, begins)
        at = end
