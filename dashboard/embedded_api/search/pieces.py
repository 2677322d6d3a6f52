"""Which pieces of texts have sets, and making those.

Most long pieces are a part of one still longer (`azlau` of `kazlauskas`). Such a one has the set
of that whole, and in its own only the few texts that have it elsewhere: a tenth of the room.

Source: Chambi, Lemire, Kaser, Godin, "Better bitmap performance with Roaring bitmaps" (2016).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from pyroaring import BitMap

from dashboard.embedded_api.models import PersonPiece

SHORT, LONGEST = 3, 24
_FREQUENT = 1 / 200
"""The part of all texts from which on a longer piece has a set of its own."""
_BATCH = 5_000

Leads = Mapping[str, str | None]
"""Frequent pieces, each with one that it leads to: longer by a character, and in all texts of
a sample that have the piece. Of other texts that need not hold.
"""


def frequent_pieces(texts: Sequence[str]) -> dict[str, str | None]:
    """Return the pieces of four characters and more that many of the texts have. With each goes
    a piece longer by one that all who have it have, if there is any.
    """
    enough = max(round(len(texts) * _FREQUENT), 2)
    leads: dict[str, str | None] = {}
    begins: dict[str, int] | None = None
    for size in range(SHORT + 1, LONGEST + 1):
        counts = Counter(chain.from_iterable(_pieces(text, size, begins) for text in texts))
        frequent = {piece: count for piece, count in counts.items() if count >= enough}
        leads |= dict.fromkeys(frequent)
        for piece, count in frequent.items():
            for part in (piece[:-1], piece[1:]):
                if begins and begins.get(part) == count:
                    leads[part] = piece
        begins = frequent
    return leads


def pieces_of(texts: Iterable[tuple[int, str]], leads: Leads) -> Iterator[PersonPiece]:
    """Return the pieces of texts, given with their places, and the sets of those who have them."""
    own = _sets_of(texts, leads)
    wholes: dict[str, str] = {}
    for piece in sorted({*own, *leads}, key=len, reverse=True):
        if lead := leads.get(piece):
            wholes[piece] = wholes.get(lead, lead)
            if lead in wholes:  # what has the lead elsewhere than in the whole has the piece so
                own[piece] |= own[lead]
        whole = wholes.get(piece, "")
        texts_with_it = len(own[piece] | own[whole]) if whole else len(own[piece])
        places = own[piece].serialize()
        yield PersonPiece(piece=piece, texts=texts_with_it, whole=whole, places=places)


def _sets_of(texts: Iterable[tuple[int, str]], leads: Leads) -> dict[str, BitMap]:
    """Return by piece the places of the texts that have it, and not what it leads to."""
    sets: dict[str, BitMap] = defaultdict(BitMap)
    rest = iter(texts)
    while batch := list(islice(rest, _BATCH)):
        places = defaultdict(list)
        for place, text in batch:
            for piece in _marks(text, leads):
                places[piece].append(place)
        for piece, some in places.items():
            sets[piece].update(some)
    # A shorter piece is wherever a longer one begins with it.
    for size in range(SHORT, 1, -1):
        for piece in [piece for piece in sets if len(piece) == size]:
            sets[piece[:-1]] |= sets[piece]
    return sets


def _marks(text: str, leads: Leads) -> set[str]:
    """Return the pieces that begin at each place of a text: the short one, and frequent ones."""
    found = set()
    for run in text.split():
        for at in range(len(run)):
            found.add(run[at : at + SHORT])
            for end in range(at + SHORT + 1, len(run) + 1):
                if (piece := run[at:end]) not in leads:
                    break
                if (lead := leads[piece]) is None or lead not in run:
                    found.add(piece)
    return found


def _pieces(text: str, size: int, begins: Mapping[str, int] | None) -> set[str]:
    """Return the pieces of that size which begin with one of those, if any are given."""
    return {
        run[at : at + size]
        for run in text.split()
        for at in range(len(run) - size + 1)
        if begins is None or run[at : at + size - 1] in begins
    }
