"""Finding texts by LIKE: PostgreSQL with its trigram index, and any database without an index.

The trigram index answers what is rare. What is common is soon met in the order of the list, and
is counted by reading all texts, which are short and lie together for that.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import QuerySet

from dashboard.embedded_api.models import PersonText
from dashboard.embedded_api.search.found import Found, Span

_NEAR = 5_000
"""How many texts are tried in the order of the list before the index is asked."""
TABLE = PersonText._meta.db_table
INDEX = "embedded_api_text_trigrams"


class ByText:
    """Finds by LIKE; there is nothing to keep besides the texts themselves."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the first `size` labels."""
        near = _near(words, span, size)
        with _no_compiling():
            if len(near) == size:
                return Found(_having(words, span).count(), near)
            every = _sorted(words, span)
        return Found(len(every), every[:size])

    def labels(self, words: Sequence[str], span: Span, size: int) -> list[int]:
        """Return the first `size` labels."""
        near = _near(words, span, size)
        if len(near) == size:
            return near
        with _no_compiling():
            return _sorted(words, span)[:size]

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts."""

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts."""

    def clear(self) -> None:
        """Let go of all texts; many come, and an index is made faster after them."""
        _run(f"DROP INDEX IF EXISTS {INDEX}")

    def settle(self) -> None:
        """Make the index, where PostgreSQL has been given trigrams; without it all is slower."""
        if connection.vendor == "postgresql":
            if _run("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"):
                _run(f"CREATE INDEX {INDEX} ON {TABLE} USING gin (text gin_trgm_ops)")
            _run(f"ANALYZE {TABLE}")


def _run(sql: str) -> bool:
    """Run a statement; return whether it has an answer."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return bool(cursor.description and cursor.fetchone())


def _near(words: Sequence[str], span: Span, size: int) -> list[int]:
    """Return what is met near the beginning: all that is asked for, when it is common."""
    low, high = span
    beyond = _within(span).order_by("label").values_list("label", flat=True)[_NEAR : _NEAR + 1]
    near = _having(words, (low, next(iter(beyond), high)))
    return list(near.order_by("label").values_list("label", flat=True)[:size])


def _sorted(words: Sequence[str], span: Span) -> list[int]:
    """Return all labels. Without a limit, or the database would walk the list in hope."""
    return list(_having(words, span).order_by("label").values_list("label", flat=True))


def _within(span: Span) -> "QuerySet[PersonText]":
    return PersonText.objects.filter(label__range=span)


def _having(words: Sequence[str], span: Span) -> "QuerySet[PersonText]":
    texts = _within(span)
    for word in words:
        texts = texts.filter(text__contains=word)
    return texts


@contextmanager
def _no_compiling() -> Iterator[None]:
    """Keep PostgreSQL from compiling a query that is done before it would be compiled."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
        yield
