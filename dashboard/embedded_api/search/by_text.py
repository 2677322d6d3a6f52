"""Finding texts by LIKE: on any database for which there is nothing better."""

from collections.abc import Sequence

from django.db.models import QuerySet

from dashboard.embedded_api.models import PersonText
from dashboard.embedded_api.search.found import Found, Span


class ByText:
    """Finds by LIKE; there is nothing to keep besides the texts themselves."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the ids of the first `size` people."""
        return Found(_having(words, span).count(), self.ids(words, span, size))

    def ids(self, words: Sequence[str], span: Span, size: int) -> list[str]:
        """Return the ids of the first `size` people."""
        texts = _having(words, span).order_by("label")
        return list(texts.values_list("person_id", flat=True)[:size])

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


def _having(words: Sequence[str], span: Span) -> "QuerySet[PersonText]":
    """Return the texts that have every word, within a span."""
    texts = PersonText.objects.filter(tenant_id=span.tenant_id, label__gte=span.start)
    for word in words:
        texts = texts.filter(text__contains=word)
    return texts
