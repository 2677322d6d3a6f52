"""Finding texts by their pieces: PostgreSQL, whose own index counts too slowly what is common.

Of each piece of up to three characters, and of each longer one that many texts have, the set of
the texts that have it is kept, over their places in the list. A word that is such a piece is
answered by its set alone, however many have it. Any other word is rare: the sets of its pieces
leave a few texts, and those are read. A text that came after the sets were made has no place in
them, and is read as well; what went since is a set of its own.

Source: Chambi, Lemire, Kaser, Godin, "Better bitmap performance with Roaring bitmaps" (2016).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice

from django.db import connection, transaction
from django.db.models import F, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import StrIndex
from pyroaring import BitMap

from dashboard.embedded_api.models import PersonPiece, PersonText
from dashboard.embedded_api.search.by_text import having, within
from dashboard.embedded_api.search.found import Found, Span
from dashboard.embedded_api.writing import empty, write_many

TRIGRAMS = "embedded_api_text_trigrams"
_SHORT, _LONGEST = 3, 24
_FREQUENT = 1 / 20
"""The part of all texts from which on a longer piece has a set of its own."""
_SAMPLE = 20_000
_BATCH = 5_000
_RAREST = 12
"""Of how many of its pieces the sets are read for a rare word."""
_WORDS, _CHARACTERS = 8, 60
"""How much of a long query is looked up; the rest is read in the texts that are left."""
_FEW = 20_000
"""Up to how many texts are read by their places; among more the index of trigrams is asked."""
_GONE = ""


class ByPieces:
    """Finds by sets of places; the places of texts follow their labels."""

    def find(self, words: Sequence[str], span: Span, size: int) -> Found:
        """Return the count and the first `size` labels."""
        with _no_compiling():
            places, late = _places(words, span), _late(words, span)
            return Found(len(places) + len(late), _first(places, late, size))

    def labels(self, words: Sequence[str], span: Span, size: int) -> list[int]:
        """Return the first `size` labels."""
        with _no_compiling():
            return _first(_places(words, span), _late(words, span), size)

    def add(self, texts: Sequence[PersonText]) -> None:
        """Take in texts: they have no places."""

    def remove(self, texts: Sequence[PersonText]) -> None:
        """Let go of texts, and take away their places."""
        gone = _sets([_GONE]).get(_GONE, BitMap())
        gone.update(text.place for text in texts if text.place is not None)
        _piece(_GONE, gone).save()
        for text in texts:
            text.place = None

    def late(self) -> int:
        """Return how many texts have no place."""
        return PersonText.objects.filter(place=None).count()

    def clear(self) -> None:
        """Let go of all texts; many come, and an index is made faster after them."""
        empty(PersonPiece)
        _run(f"DROP INDEX IF EXISTS {TRIGRAMS}")

    def settle(self) -> None:
        """Make the sets, and the index of trigrams where PostgreSQL has been given those."""
        sets = sets_of(_texts(), frequent_pieces(_sample()))
        write_many([_piece(piece, places) for piece, places in sets.items()])
        if _run("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"):
            table = PersonText._meta.db_table
            _run(f"CREATE INDEX {TRIGRAMS} ON {table} USING gin (text gin_trgm_ops)")
        for model in (PersonText, PersonPiece):
            _run(f"ANALYZE {model._meta.db_table}")


def frequent_pieces(texts: Sequence[str]) -> set[str]:
    """Return the pieces of four characters and more that one in twenty of the texts has."""
    enough = max(round(len(texts) * _FREQUENT), 2)
    frequent: set[str] = set()
    begins: set[str] | None = None
    for size in range(_SHORT + 1, _LONGEST + 1):
        counts = Counter(chain.from_iterable(_pieces(text, size, begins) for text in texts))
        begins = {piece for piece, count in counts.items() if count >= enough}
        if not begins:
            break
        frequent |= begins
    return frequent


def sets_of(texts: Iterable[tuple[int, str]], frequent: set[str]) -> dict[str, BitMap]:
    """Return the places of the texts that have a piece, by piece."""
    sets: dict[str, BitMap] = defaultdict(BitMap)
    rest = iter(texts)
    while batch := list(islice(rest, _BATCH)):
        places = defaultdict(list)
        for place, text in batch:
            for piece in _marks(text, frequent):
                places[piece].append(place)
        for piece, some in places.items():
            sets[piece].update(some)
    # A shorter piece is wherever a longer one begins with it.
    for size in range(_SHORT, 1, -1):
        for piece in [piece for piece in sets if len(piece) == size]:
            sets[piece[:-1]] |= sets[piece]
    return sets


def _marks(text: str, frequent: set[str]) -> set[str]:
    """Return the pieces that begin at each place of a text: the short one, and frequent ones."""
    found = set()
    for run in text.split():
        for at in range(len(run)):
            found.add(run[at : at + _SHORT])
            end = at + _SHORT + 1
            while end <= len(run) and (piece := run[at:end]) in frequent:
                found.add(piece)
                end += 1
    return found


def _pieces(text: str, size: int, begins: set[str] | None) -> set[str]:
    """Return the pieces of that size which begin with one of those, if any are given."""
    return {
        run[at : at + size]
        for run in text.split()
        for at in range(len(run) - size + 1)
        if begins is None or run[at : at + size - 1] in begins
    }


def _places(words: Sequence[str], span: Span) -> BitMap:
    """Return the places of the texts that have every word."""
    counts = _counts(words[:_WORDS])
    asked = {word for word in words[:_WORDS] if word in counts}
    for word in set(words[:_WORDS]) - asked:
        if not _grams(word) <= counts.keys():
            return BitMap()
        asked |= set(_rarest(_within(word) & counts.keys(), counts))
    sets = _sets([*asked, _GONE])
    gone = sets.pop(_GONE, BitMap())
    places = BitMap.intersection(_range(span), *sets.values()) - gone
    return _read(places, [word for word in words if word not in asked])


def _rarest(pieces: set[str], counts: dict[str, int]) -> list[str]:
    """Return the pieces that say most: rare ones, none of them a part of another."""
    whole = [each for each in pieces if not any(each in other for other in pieces - {each})]
    return sorted(whole, key=lambda each: counts[each])[:_RAREST]


def _grams(word: str) -> set[str]:
    """Return the pieces of three characters that every text with the word has; or the word."""
    word = word[:_CHARACTERS]
    return {word[at : at + _SHORT] for at in range(max(len(word) - _SHORT + 1, 1))}


def _within(word: str) -> set[str]:
    word = word[:_CHARACTERS]
    return {word[at:end] for at in range(len(word)) for end in range(at + 1, at + _LONGEST + 1)}


def _counts(words: Sequence[str]) -> dict[str, int]:
    """Return how many texts have each piece of the words that has a set."""
    pieces = set().union(*map(_within, words))
    return dict(PersonPiece.objects.filter(piece__in=pieces).values_list("piece", "texts"))


def _sets(pieces: Sequence[str]) -> dict[str, BitMap]:
    rows = PersonPiece.objects.filter(piece__in=pieces).values_list("piece", "places")
    return {piece: BitMap.deserialize(bytes(places)) for piece, places in rows}


def _piece(piece: str, places: BitMap) -> PersonPiece:
    return PersonPiece(piece=piece, texts=len(places), places=places.serialize())


def _range(span: Span) -> BitMap:
    """Return the places of all texts within a span."""
    placed = within(span).exclude(place=None).values_list("place", flat=True)
    first, last = placed.order_by("label").first(), placed.order_by("-label").first()
    return BitMap() if first is None or last is None else BitMap(range(first, last + 1))


def _read(places: BitMap, words: Sequence[str]) -> BitMap:
    """Return those places whose texts have the words."""
    if not words or not places:
        return places
    if len(places) > _FEW:
        texts = having(_placed(), words)
    else:
        texts = PersonText.objects.filter(place__in=RawSQL("SELECT unnest(%s::int[])", [[*places]]))
        for word in words:  # not by LIKE, or the index of trigrams would be asked after all
            texts = texts.annotate(at=StrIndex("text", Value(word))).filter(at__gt=0)
    rows = texts.values_list("place", flat=True)
    return places & BitMap(place for place in rows if place is not None)


def _late(words: Sequence[str], span: Span) -> list[int]:
    """Return the labels of the texts that have every word, and no place."""
    texts = having(within(span).filter(place=None), words)
    return list(texts.values_list("label", flat=True))


def _first(places: BitMap, late: Sequence[int], size: int) -> list[int]:
    texts = PersonText.objects.filter(place__in=list(islice(places, size)))
    return sorted([*texts.values_list("label", flat=True), *late])[:size]


def _placed() -> "QuerySet[PersonText]":
    return PersonText.objects.exclude(place=None)


def _texts() -> Iterator[tuple[int, str]]:
    rows = _placed().order_by("place").values_list("place", "text")
    for place, text in rows.iterator(chunk_size=_BATCH):
        yield place or 0, text


def _sample() -> list[str]:
    """Return some texts, evenly from the whole list."""
    step = max(_placed().count() // _SAMPLE, 1)
    some = _placed().annotate(rest=F("place") % step).filter(rest=0)
    return list(some.values_list("text", flat=True))


@contextmanager
def _no_compiling() -> Iterator[None]:
    """Keep PostgreSQL from compiling a query that is done before it would be compiled."""
    with transaction.atomic():
        _run("SET LOCAL jit = off")
        yield


def _run(sql: str) -> bool:
    """Run a statement; return whether it has an answer."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return bool(cursor.description and cursor.fetchone())
