"""Finding texts by their pieces: PostgreSQL, whose own index counts too slowly what is common.

Of each piece of up to three characters, and of each longer one that many texts have, the set of
the texts that have it is kept, over their places in the list. A word that is such a piece is
answered by its set alone, however many have it. Any other word is rare: the sets of its pieces
leave a few texts, and those are read. A text that came after the sets were made has no place in
them, and is read as well; what went since is a set of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from django.db import connection
from django.db.models import F, Max, Min, QuerySet
from pyroaring import BitMap

from dashboard.embedded_api.models import PersonPiece, PersonText
from dashboard.embedded_api.search.found import LOWEST, Found, Span
from dashboard.embedded_api.search.pieces import LONGEST, SHORT, frequent_pieces, pieces_of
from dashboard.embedded_api.search.rows import rows
from dashboard.embedded_api.writing import empty, write_many

_SAMPLE = 20_000
_BATCH = 5_000
_RAREST = 12
"""Of how many of its pieces the sets are read for a rare word."""
_WORDS, _CHARACTERS = 8, 60
"""How much of a long query is looked up; the rest is read in the texts that are left."""
_AT_ONCE = 5_000
"""So many texts are read by one question: PostgreSQL compiles a larger one, which takes longer."""
_GONE = ""
_FROM_TEXTS = "FROM embedded_api_persontext"
_IN_SPAN = "tenant_id = %s AND label >= %s"
_FIRST = f"""
    SELECT label, place, person_id {_FROM_TEXTS} WHERE place = ANY(%s) UNION ALL
    SELECT label, place, person_id {_FROM_TEXTS} WHERE place IS NULL AND {_IN_SPAN}"""
_KEPT = """
    SELECT piece, texts,
        CASE WHEN piece = ANY(%s) THEN places END,
        CASE WHEN piece = ANY(%s) AND whole <> '' THEN (
            SELECT other.places FROM embedded_api_personpiece other WHERE other.piece = kept.whole
        ) END
    FROM embedded_api_personpiece kept WHERE piece = ANY(%s)
"""


class ByPieces:
    """Finds by sets of places; the places of texts follow their labels."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the ids of the first `size` people."""
        places = _places(words, span)
        found = rows(
            f"{_FIRST}{_having(words)} ORDER BY 1", list(islice(places, size)), *span, *words
        )
        count = len(places) + sum(place is None for _, place, _ in found)
        return Found(count, [person_id for _, _, person_id in found[:size]])

    def ids(self, words: Sequence[str], span: Span, size: int) -> list[str]:
        """Return the ids of the first `size` people: the count costs nothing more."""
        return self.find(words, span, size).first

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts: they have no places."""

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts, and take away their places."""
        gone = _kept([], [_GONE])[1].get(_GONE, BitMap())
        gone.update(text.place for text in texts if text.place is not None)
        _piece(_GONE, gone).save()
        for text in texts:
            text.place = None

    def late(self) -> int:
        """Return how many texts have no place."""
        return PersonText.objects.filter(place=None).count()

    def clear(self) -> None:
        """Let go of all texts; many come."""
        empty(PersonPiece)

    def settle(self) -> None:
        """Make the sets, after all have come."""
        pieces = chain(pieces_of(_texts(), frequent_pieces(_sample())), _sets_of_tenants())
        while batch := list(islice(pieces, _BATCH)):
            write_many(batch)
        with connection.cursor() as cursor:
            for model in (PersonText, PersonPiece):
                cursor.execute(f"ANALYZE {model._meta.db_table}")


def _places(words: Sequence[str], span: Span) -> BitMap:
    """Return the places of the texts that have every word, within a span."""
    looked_up, own = words[:_WORDS], _all_of(span.tenant_id)
    counts, sets = _kept(set().union(*map(_within, looked_up)), {*looked_up, own, _GONE})
    rare: set[str] = set()
    for word in looked_up:
        if word not in sets:
            if not _grams(word) <= counts.keys():
                return BitMap()
            rare |= set(_rarest(word, counts))
    sets |= _kept(rare, rare)[1] if rare else {}
    gone = sets.pop(_GONE, BitMap())
    if own not in sets:
        return BitMap()
    places = _from(span, BitMap.intersection(*sets.values()) - gone)
    return _read(places, [word for word in words if word not in sets])


def _rarest(word: str, counts: Mapping[str, int]) -> list[str]:
    """Return the pieces of a word that say most: rare ones, none of them a part of another."""
    word, whole, end = word[:_CHARACTERS], set(), 0
    for at in range(len(word)):
        reached = end
        while end < len(word) and word[at : end + 1] in counts:
            end += 1
        if end > reached:
            whole.add(word[at:end])
    return sorted(whole, key=lambda each: counts[each])[:_RAREST]


def _grams(word: str) -> set[str]:
    """Return the pieces of three characters that every text with the word has; or the word."""
    word = word[:_CHARACTERS]
    return {word[at : at + SHORT] for at in range(max(len(word) - SHORT + 1, 1))}


def _within(word: str) -> set[str]:
    word = word[:_CHARACTERS]
    return {word[at:end] for at in range(len(word)) for end in range(at + 1, at + LONGEST + 1)}


def _kept(pieces: Iterable[str], asked: Iterable[str]) -> tuple[dict[str, int], dict[str, BitMap]]:
    """Return how many texts have each of the pieces, and the sets of those that are asked for."""
    names = list(asked)
    found = rows(_KEPT, names, names, list({*pieces, *names}))
    counts = {piece: texts for piece, texts, _, _ in found}
    sets = {piece: _set(places) | _set(more) for piece, _, places, more in found if places}
    return counts, sets


def _set(places: bytes | None) -> BitMap:
    return BitMap.deserialize(places) if places else BitMap()


def _all_of(tenant_id: str) -> str:
    """Return what the set of all texts of a tenant is kept as: no piece holds a space."""
    return f"\n{tenant_id}"


def _from(span: Span, places: BitMap) -> BitMap:
    """Return the places from where the span begins."""
    if span.start == LOWEST or not places:
        return places
    first = f"{_IN_SPAN} AND place IS NOT NULL ORDER BY label LIMIT 1"
    begin = rows(f"SELECT place {_FROM_TEXTS} WHERE {first}", *span)
    return places & BitMap(range(begin[0][0], places.max() + 1)) if begin else BitMap()


def _read(places: BitMap, words: Sequence[str]) -> BitMap:
    """Return those places whose texts have the words."""
    if not words or not places:
        return places
    sql = f"SELECT place {_FROM_TEXTS} WHERE place = ANY(%s){_having(words)}"
    rest = list(places)
    parts = [rest[at : at + _AT_ONCE] for at in range(0, len(rest), _AT_ONCE)]
    return BitMap(place for part in parts for (place,) in rows(sql, part, *words))


def _having(words: Sequence[str]) -> str:
    """Return the condition that a text has the words, which follow as parameters."""
    return " AND strpos(text, %s) > 0" * len(words)


def _texts() -> Iterator[tuple[int, str]]:
    texts = _placed().order_by("place").values_list("place", "text")
    for place, text in texts.iterator(chunk_size=_BATCH):
        yield place or 0, text


def _sample() -> list[str]:
    """Return some texts, evenly from the whole list."""
    step = max(_placed().count() // _SAMPLE, 1)
    some = _placed().annotate(rest=F("place") % step).filter(rest=0)
    return list(some.values_list("text", flat=True))


def _sets_of_tenants() -> Iterator[PersonPiece]:
    """Return the sets of all texts of each tenant: they stand together."""
    ends = _placed().values_list("tenant_id").annotate(Min("place"), Max("place"))
    for tenant_id, first, last in ends:
        yield _piece(_all_of(tenant_id), BitMap(range(first, last + 1)))


def _placed() -> "QuerySet[PersonText]":
    return PersonText.objects.exclude(place=None)


def _piece(piece: str, places: BitMap) -> PersonPiece:
    return PersonPiece(piece=piece, texts=len(places), places=places.serialize())
