"""One part of the list of people, as it was just read. Nothing of it is kept anywhere."""

from dataclasses import dataclass, field, replace
from urllib.parse import quote

from dashboard.client import InvalidRequestError, NotFoundError
from dashboard.contract.envelope import ListEnvelope, UnreadableItem
from dashboard.contract.people import Person
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audiences_of_person
from dashboard.web.people_matches import Marked, words_of
from dashboard.web.people_query import PeopleQuery, Place
from dashboard.web.readings import read_people

PART = 50
"""People a part has, where the service gives as many as it is asked for."""
AUDIENCES_SHOWN = 50


@dataclass(frozen=True)
class PersonRow:
    """One person of a part."""

    person: Person
    number: int
    """Their place in the whole result, counted from 1."""
    address: str
    """The address that opens them."""
    marked: Marked

    @property
    def mail_address(self) -> str:
        """Their email as a link's target: nothing in it becomes a header of the mail."""
        return "mailto:" + quote(self.person.email or "", safe="@")


@dataclass(frozen=True)
class PeoplePart:
    """A part of the list or of a search's result."""

    query: PeopleQuery
    """What was read: the start, where a cursor was refused."""
    rows: list[PersonRow]
    total: int
    unreadable: list[UnreadableItem] = field(default_factory=list)
    next: PeopleQuery | None = None
    is_cut: bool = False
    """Whether there is more, and the service gave no new way to ask for it."""
    is_restarted: bool = False
    """Whether the service would not go on from where the list was."""

    @property
    def before(self) -> int:
        """How many come before these."""
        return self.query.at.before

    @property
    def shown(self) -> int:
        """How many there are up to here, those before and the unreadable ones included."""
        return self.before + len(self.rows) + len(self.unreadable)

    @property
    def next_count(self) -> int:
        """How many the next part brings at most."""
        return min(PART, max(self.total - self.shown, 1))


@dataclass(frozen=True)
class OpenPerson:
    """The person who is open, between their neighbours in the part."""

    row: PersonRow | None
    """None where the part does not hold them."""
    previous: PersonRow | None = None
    next: PersonRow | None = None
    audiences: list[AudienceRecord] = field(default_factory=list)
    has_more_audiences: bool = False


def people_part(query: PeopleQuery) -> PeoplePart:
    """Read one part; from the start again where the service refuses the cursor. Raises APIError."""
    try:
        return _part(query, _read(query))
    except (InvalidRequestError, NotFoundError):
        if not query.at.cursor:
            raise
    start = replace(query.first, person=query.person)
    return replace(_part(start, _read(start)), is_restarted=True)


def open_person(part: PeoplePart) -> OpenPerson:
    """Find the person who is asked for in a part, and their audiences seen here: one query."""
    query = part.query
    for at, row in enumerate(part.rows):
        is_asked_for = (
            row.person.person_id == query.person
            if query.person
            else (not row.person.person_id and row.number - part.before == query.row)
        )
        if is_asked_for:
            seen = list(audiences_of_person(row.person.person_id or "")[: AUDIENCES_SHOWN + 1])
            return OpenPerson(
                row=row,
                previous=part.rows[at - 1] if at else None,
                next=part.rows[at + 1] if at + 1 < len(part.rows) else None,
                audiences=seen[:AUDIENCES_SHOWN],
                has_more_audiences=len(seen) > AUDIENCES_SHOWN,
            )
    return OpenPerson(row=None)


def _read(query: PeopleQuery) -> ListEnvelope[Person]:
    return read_people(words=query.words, cursor=query.at.cursor or None, limit=PART)


def _part(query: PeopleQuery, found: ListEnvelope[Person]) -> PeoplePart:
    part = PeoplePart(
        query=query,
        rows=_rows(query, found),
        total=found.total_count,
        unreadable=found.unreadable,
    )
    if not found.has_more:
        return part
    # A cursor that was used already would lead round in a circle.
    if not found.next_cursor or query.has_been_at(found.next_cursor):
        return replace(part, is_cut=True)
    return replace(part, next=query.further(Place(part.shown, found.next_cursor)))


def _rows(query: PeopleQuery, found: ListEnvelope[Person]) -> list[PersonRow]:
    unreadable = {item.index for item in found.unreadable}
    sent = len(found.items) + len(unreadable)
    opening, words = query.openings(), words_of(query.words)
    places = (place for place in range(sent) if place not in unreadable)
    return [
        PersonRow(
            person=person,
            number=query.at.before + place + 1,
            address=opening(person.person_id or "", place + 1),
            marked=Marked(person, words),
        )
        for place, person in zip(places, found.items, strict=True)
    ]
