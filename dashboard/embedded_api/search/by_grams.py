"""Finding texts by SQLite's FTS5: any piece of a word is a phrase of the grams kept of it.

Of each run of letters the index keeps, from every place in it, the next six characters, or what
is left. A word of six or more is a phrase of such grams, one after the other; a shorter one is
how a gram begins. FTS5's own trigrams find nothing below three characters, and take twice the
time to count a word that most texts have.
"""

from collections.abc import Sequence

from django.db import connection

from dashboard.embedded_api.models import PersonText
from dashboard.embedded_api.search.found import Found, Span
from dashboard.embedded_api.search.labels import Ends, ends_of, ids_of
from dashboard.embedded_api.search.rows import rows

TABLE = "embedded_api_persongrams"
_TELL = f"INSERT INTO {TABLE}"
_MATCHING = f"FROM {TABLE} WHERE {TABLE} MATCH %s AND rowid BETWEEN %s AND %s"
_GRAM = 6
_MEMORY, _MEMORY_WHILE_FILLING = 1 << 20, 1 << 26
"""How many bytes FTS5 gathers before it writes: much while filling means fewer merges."""


class ByGrams:
    """Finds by the index of grams, whose rows are numbered by the labels of the texts."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the ids of the first `size` people."""
        ends = ends_of(span)
        [(count,)] = rows(f"SELECT count(*) {_MATCHING}", _expression(words), *ends)
        return Found(count, _first(words, ends, size) if count else [])

    def ids(self, words: Sequence[str], span: Span, size: int) -> list[str]:
        """Return the ids of the first `size` people."""
        return _first(words, ends_of(span), size)

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts."""
        _each(f"{_TELL}(rowid, grams) VALUES (%s, %s)", texts)

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts: the index keeps no texts, so it is told what they were."""
        _each(f"{_TELL}({TABLE}, rowid, grams) VALUES ('delete', %s, %s)", texts)

    def late(self) -> int:
        """Return 0: a text is in the index as soon as it is taken in."""
        return 0

    def clear(self) -> None:
        """Let go of all texts; many come."""
        rows(f"{_TELL}({TABLE}) VALUES ('delete-all')")
        self._gather(_MEMORY_WHILE_FILLING)

    def settle(self) -> None:
        """Go back to the memory of a few texts, after all have come."""
        self._gather(_MEMORY)

    @staticmethod
    def _gather(size: int) -> None:
        rows(f"{_TELL}({TABLE}, rank) VALUES ('hashsize', %s)", size)


def grams_of(text: str) -> str:
    """Return what the index keeps of a text: the grams of each run, from each place in it.

    A run ends in grams of less than six characters, so no phrase goes on from one to the next.
    """
    return " ".join(run[at : at + _GRAM] for run in text.split() for at in range(len(run)))


def _first(words: Sequence[str], ends: Ends, size: int) -> list[str]:
    sql = f"SELECT rowid {_MATCHING} ORDER BY rowid LIMIT %s"
    return ids_of([label for (label,) in rows(sql, _expression(words), *ends, size)])


def _expression(words: Sequence[str]) -> str:
    """Return the question in FTS5's language; quotes make any character plain text."""
    return " AND ".join(map(_phrase, words))


def _phrase(word: str) -> str:
    last = max(len(word) - _GRAM, 0)
    grams = " ".join(word[at : at + _GRAM] for at in range(last + 1)).replace('"', '""')
    return f'"{grams}"' if len(word) >= _GRAM else f'"{grams}" *'


def _each(sql: str, texts: Sequence[PersonText]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(text.label, grams_of(text.text)) for text in texts])
