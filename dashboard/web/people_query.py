"""What the list of people is asked for, as its address says it.

The service's cursors lead forward only (spec, Pagination), so an address also carries where the
parts before it began.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, takewhile
from urllib.parse import quote_plus, urlencode

from django.http import QueryDict

from dashboard.web.addresses import address_of
from dashboard.web.asked import count_in, words_in

BACK_CHARACTERS = 800
"""How long the earlier places in an address may be together: servers cut addresses at 4,094."""


@dataclass(frozen=True)
class Place:
    """Where a part of the list begins; the default is the start."""

    before: int = 0
    """How many people come before it."""
    cursor: str = ""

    def written(self) -> str:
        """Return it as an address has it, such as `50-abc`."""
        return f"{self.before}-{self.cursor}"

    @classmethod
    def read(cls, written: str) -> "Place | None":
        """Return the place written so; None for what is none."""
        before, dash, cursor = written.partition("-")
        return cls(count_in(before), cursor) if dash and before.isdecimal() else None


START = Place()


@dataclass(frozen=True)
class PeopleQuery:
    """Which people to show: a search, a part of its result, and one of them opened."""

    words: str = ""
    at: Place = START
    back: tuple[Place, ...] = ()
    """Where the parts before began, the nearest last; those far back are left out."""
    person: str = ""
    """The id of the person who is open."""
    row: int = 0
    """Which of the part is open, for one without an id; counts from 1."""

    @classmethod
    def of(cls, address: QueryDict) -> "PeopleQuery":
        """Read `?q= cursor= after= back= person= row=`."""
        back = (Place.read(written) for written in address.getlist("back"))
        cursor = address.get("cursor", "")
        return cls(
            words=words_in(address),
            at=Place(count_in(address.get("after", "")), cursor) if cursor else START,
            back=_nearest(place for place in back if place) if cursor else (),
            person=address.get("person", "").replace("\0", ""),
            row=count_in(address.get("row", "")),
        )

    @property
    def is_open(self) -> bool:
        """Whether one person is asked for."""
        return bool(self.person or self.row)

    @property
    def first(self) -> "PeopleQuery":
        """The same search from its start."""
        return PeopleQuery(words=self.words)

    @property
    def closed(self) -> "PeopleQuery":
        """The same part with nobody open."""
        return replace(self, person="", row=0)

    @property
    def previous(self) -> "PeopleQuery | None":
        """The part before this; None where it is not known."""
        if not self.back:
            return None
        return PeopleQuery(words=self.words, at=self.back[-1], back=self.back[:-1])

    def further(self, place: Place) -> "PeopleQuery":
        """Return the part that begins at a place after this one."""
        back = _nearest((*self.back, self.at))
        return PeopleQuery(words=self.words, at=place, back=back)

    def has_been_at(self, cursor: str) -> bool:
        """Tell whether a cursor leads to this part, or to one before it."""
        return cursor in {place.cursor for place in (*self.back, self.at)}

    def openings(self) -> Callable[[str, int], str]:
        """Return what gives the addresses that open one person of this part.

        By id, or by row where there is none.
        """
        closed = self.closed.address
        start = f"{closed}{'&' if '?' in closed else '?'}"
        return lambda person_id, row: (
            f"{start}person={quote_plus(person_id)}" if person_id else f"{start}row={row}"
        )

    @cached_property
    def address(self) -> str:
        """The address that asks for this, such as `/people/?q=ada`."""
        said: dict[str, object] = {
            "q": self.words,
            "cursor": self.at.cursor,
            "after": self.at.before,
            "back": [place.written() for place in self.back],
            "person": self.person,
            "row": self.row,
        }
        given = {name: value for name, value in said.items() if value}
        query = urlencode(given, doseq=True)
        return address_of("people-list") + (f"?{query}" if query else "")

    @property
    def export_address(self) -> str:
        """The address of the whole result as CSV."""
        query = urlencode({"q": self.words}) if self.words else ""
        return address_of("people-export") + (f"?{query}" if query else "")


def _nearest(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return the last of the places: as many as an address has room for."""
    nearest = list(places)[::-1]
    lengths = accumulate(len(place.written()) for place in nearest)
    kept = sum(1 for _ in takewhile(lambda length: length <= BACK_CHARACTERS, lengths))
    return tuple(nearest[:kept][::-1])
