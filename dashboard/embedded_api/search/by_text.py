"""Finding texts by LIKE: on any database for which there is nothing better."""

from collections.abc import Sequence

from django.db.models import QuerySet

from dashboard.embedded_api.models import PersonText
from dashboard.embedded_api.search.found import Found, Span


class ByText:
    """Finds by LIKE; there is nothing to keep besides the texts themselves."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the first `size` labels."""
        return Found(having(within(span), words).count(), self.labels(words, span, size))

    def labels(self, words: Sequence[str], span: Span, size: int) -> list[int]:
        """Return the first `size` labels."""
        texts = having(within(span), words).order_by("label")
        return list(texts.values_list("label", flat=True)[:size])

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts."""

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts."""

    def late(self) -> int:
        """Return 0: no text is late where all are read."""
        return 0

    def clear(self) -> None:
        """Let go of all texts; many come."""

    def settle(self) -> None:
        """Take note that all of those have come."""


def within(span: Span) -> "QuerySet[PersonText]":
    """Return the texts within a span of labels."""
    return PersonText.objects.filter(label__range=span)


def having(texts: "QuerySet[PersonText]", words: Sequence[str]) -> "QuerySet[PersonText]":
    """Return those of the texts that have every word."""
    for word in words:
        texts = texts.filter(text__contains=word)
    return texts
