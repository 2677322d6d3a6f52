"""What each way of finding texts can do: three are written, one is chosen by the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dashboard.embedded_api.models import PersonText

LOWEST = -(1 << 62)
"""Below any label."""


class Span(NamedTuple):
    """The texts of a tenant's people, from a label on."""

    tenant_id: str
    start: int = LOWEST


@dataclass(frozen=True)
class Found:
    """How many texts have every word, and the ids of the first ones' people, in order."""

    count: int
    first: list[str]


class Index(Protocol):
    """Finds the texts that have every word, within a span of labels."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the exact count and the ids of the first `size` people."""

    def ids(self, words: Sequence[str], span: Span, size: int) -> list[str]:
        """Return the ids of the first `size` people."""

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
