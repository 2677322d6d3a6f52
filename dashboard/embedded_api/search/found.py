"""What each way of finding texts can do: three are written, one is chosen by the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dashboard.embedded_api.models import PersonText

Span = tuple[int, int]
"""The labels from one to another, both included."""


@dataclass(frozen=True)
class Found:
    """How many texts have every word, and the labels of the first ones, in order."""

    count: int
    first: list[int]


class Index(Protocol):
    """Finds the texts that have every word, within a span of labels."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the exact count and the first `size` labels."""

    def labels(self, words: Sequence[str], span: Span, size: int) -> list[int]:
        """Return the first `size` labels."""

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts."""

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts, before they are removed themselves."""

    def late(self) -> int:
        """Return how many texts came too late for the index, and slow every search a little."""

    def clear(self) -> None:
        """Let go of all texts; many come."""

    def settle(self) -> None:
        """Take note that all of those have come."""
