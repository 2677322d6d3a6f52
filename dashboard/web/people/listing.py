"""Rows and context of the list of people. Nothing is cached or stored."""

from dataclasses import dataclass, field, replace
from urllib.parse import quote

from dashboard.client import InvalidRequestError, NotFoundError
from dashboard.contract.envelope import ListEnvelope, UnreadableItem
from dashboard.contract.people import Person
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audiences_of_person
from dashboard.service.reading import read_people
from dashboard.web.people.match_highlighting import PersonMatch
from dashboard.web.people.query import PageCursor, PeopleQuery
from dashboard.web.ui.load_more import PAGE_SIZE
from dashboard.web.ui.match_highlighting import query_words

MAX_AUDIENCES = 50


@dataclass(frozen=True)
class PersonRow:
    """One person of the list."""

    person: Person
    number: int
    """Their position in the whole result, counted from 1."""
    url: str
    """The URL that opens them."""
    marked: PersonMatch

    @property
    def mailto_url(self) -> str:
        """The mailto link of their email, quoted so that it can't set mail headers."""
        return "mailto:" + quote(self.person.email or "", safe="@")


@dataclass(frozen=True)
class PeopleListContext:
    """A window of the list or of a search's result."""

    query: PeopleQuery
    """What was read: the start of the list if a cursor was rejected."""
    rows: list[PersonRow]
    total: int
    unreadable: list[UnreadableItem] = field(default_factory=list)
    next: PeopleQuery | None = None
    is_cut: bool = False
    """Whether there is more, but the service gave no new cursor."""
    is_restarted: bool = False
    """Whether the service rejected the cursor, so that the list was read from its start."""

    @property
    def before(self) -> int:
        """The number of people before these."""
        return self.query.at.before

    @property
    def shown(self) -> int:
        """The number of people up to here, with those before and the unreadable ones."""
        return self.before + len(self.rows) + len(self.unreadable)

    @property
    def next_count(self) -> int:
        """The maximum number of people that "load more" adds."""
        return min(PAGE_SIZE, max(self.total - self.shown, 1))


@dataclass(frozen=True)
class OpenPerson:
    """The open person, with their neighbours in the list."""

    row: PersonRow | None
    """None if the list does not contain them."""
    previous: PersonRow | None = None
    next: PersonRow | None = None
    audiences: list[AudienceRecord] = field(default_factory=list)
    has_more_audiences: bool = False


def read_people_list(query: PeopleQuery) -> PeopleListContext:
    """Read a window of the list, or its start if the service rejects the cursor.

    Raises APIError.
    """
    try:
        return _to_context(query, _read(query))
    except (InvalidRequestError, NotFoundError):
        if not query.at.cursor and query.size == PAGE_SIZE:
            raise
    start = replace(query.first, person=query.person)
    return replace(_to_context(start, _read(start)), is_restarted=True)


def open_person(people: PeopleListContext) -> OpenPerson:
    """Find the open person in the list, and their audiences in the ledger: one query."""
    query = people.query
    for index, row in enumerate(people.rows):
        is_open = (
            row.person.person_id == query.person
            if query.person
            else (not row.person.person_id and row.number - people.before == query.row)
        )
        if is_open:
            audiences = list(audiences_of_person(row.person.person_id or "")[: MAX_AUDIENCES + 1])
            return OpenPerson(
                row=row,
                previous=people.rows[index - 1] if index else None,
                next=people.rows[index + 1] if index + 1 < len(people.rows) else None,
                audiences=audiences[:MAX_AUDIENCES],
                has_more_audiences=len(audiences) > MAX_AUDIENCES,
            )
    return OpenPerson(row=None)


def _read(query: PeopleQuery) -> ListEnvelope[Person]:
    return read_people(words=query.words, cursor=query.at.cursor or None, limit=query.size)


def _to_context(query: PeopleQuery, found: ListEnvelope[Person]) -> PeopleListContext:
    people = PeopleListContext(
        query=query,
        rows=_rows(query, found),
        total=found.total_count,
        unreadable=found.unreadable,
    )
    if not found.has_more:
        return people
    # A cursor that was used already would lead in a circle.
    if not found.next_cursor or query.has_been_at(found.next_cursor):
        return replace(people, is_cut=True)
    return replace(people, next=query.further(PageCursor(people.shown, found.next_cursor)))


def _rows(query: PeopleQuery, found: ListEnvelope[Person]) -> list[PersonRow]:
    unreadable = {item.index for item in found.unreadable}
    url_of, words = query.open_person_urls(), query_words(query.words)
    received = range(len(found.items) + len(unreadable))
    indexes = (index for index in received if index not in unreadable)
    return [
        PersonRow(
            person=person,
            number=query.at.before + index + 1,
            url=url_of(person.person_id or "", index + 1),
            marked=PersonMatch(person, words),
        )
        for index, person in zip(indexes, found.items, strict=True)
    ]
