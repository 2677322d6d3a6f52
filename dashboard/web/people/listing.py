"""Rows and context of the list of people, with the words of a search highlighted.

Nothing is cached or stored. The service decides who matches (spec, Search people; it doesn't show
how). The highlighting is our own comparison: each word of the query within a field, ignoring case
and accents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote_plus

from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audiences_of_person
from dashboard.service.reading import read_people
from dashboard.web.lists.window import Window
from dashboard.web.people.query import PageCursor, PeopleQuery
from dashboard.web.ui.markup import value_or_none
from dashboard.web.ui.match_highlighting import FoldedText, query_words, render_segments
from dashboard.web.ui.query_params import PAGE_SIZE

SEARCHED = ("name", "email", "domain", "slug", "phone_number")
"""The fields that the built-in API searches."""
MAX_AUDIENCES = 50
EXPORT_PAGE_SIZE = 200
"""People per request. The service may return fewer, as the spec doesn't show its maximum."""
MAX_PAGES = 20_000
"""Number of pages after which a list counts as endless."""


@dataclass(frozen=True)
class PersonMatch:
    """The matches of a query's words in a person."""

    person: Person
    words: Sequence[str]

    @cached_property
    def texts(self) -> dict[str, FoldedText]:
        """The searched fields, folded for comparison."""
        return {name: FoldedText.from_text(getattr(self.person, name) or "") for name in SEARCHED}

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The fields that contain each word."""
        texts = self.texts.items()
        return {word: {name for name, text in texts if word in text.folded} for word in self.words}

    @property
    def unmatched(self) -> list[str]:
        """Words that no field contains."""
        return [word for word, fields in self.places.items() if not fields]

    @property
    def is_all_in_name_or_email(self) -> bool:
        """Whether the name or email contain each word. They are visible at any width."""
        return all(fields & {"name", "email"} for fields in self.places.values())

    def matches_outside(self, *visible_fields: str) -> list[str]:
        """Return the fields with a word that none of the visible fields contains."""
        unmatched = (
            fields for fields in self.places.values() if not fields.intersection(visible_fields)
        )
        beyond = set[str]().union(*unmatched)
        return [name for name in SEARCHED if name in beyond]


@dataclass(frozen=True)
class PersonRow:
    person: Person
    number: int
    """Position in the whole result, counted from 1."""
    url: str
    marked: PersonMatch


@dataclass(frozen=True, kw_only=True)
class PeopleWindow(Window[PersonRow]):
    query: PeopleQuery
    """Query that was read: the start of the list if the service rejected the cursor."""
    is_restarted: bool
    """Whether the list was read from its start because the service rejected the cursor."""


@dataclass(frozen=True)
class OpenPerson:
    """The open person and their neighbours in the list."""

    row: PersonRow | None
    """Row of the person; None if the list doesn't contain them."""
    previous: PersonRow | None = None
    next: PersonRow | None = None
    audiences: list[AudienceRecord] = field(default_factory=list)
    has_more_audiences: bool = False


def read_people_list(query: PeopleQuery) -> PeopleWindow:
    """Read a window of the list, or the start of the list if the service rejects the cursor.

    Raises APIError.
    """
    try:
        return _read(query)
    except (InvalidRequestError, NotFoundError):
        if not query.at.cursor and query.state.size == PAGE_SIZE:
            raise
    return _read(replace(query.first, person=query.person), is_restarted=True)


def open_person(people: PeopleWindow) -> OpenPerson:
    """Find the open person in the list, and their audiences in the ledger. Makes one query."""
    query = people.query
    for index, row in enumerate(people.items):
        is_open = (
            row.person.person_id == query.person
            if query.person
            else (not row.person.person_id and row.number - people.before == query.row)
        )
        if is_open:
            audiences = list(audiences_of_person(row.person.person_id or "")[: MAX_AUDIENCES + 1])
            return OpenPerson(
                row=row,
                previous=people.items[index - 1] if index else None,
                next=people.items[index + 1] if index + 1 < len(people.items) else None,
                audiences=audiences[:MAX_AUDIENCES],
                has_more_audiences=len(audiences) > MAX_AUDIENCES,
            )
    return OpenPerson(row=None)


def _read(query: PeopleQuery, *, is_restarted: bool = False) -> PeopleWindow:
    reading = read_people(words=query.words, cursor=query.at.cursor or None, limit=query.state.size)
    loaded_count = query.at.before + len(reading.items) + len(reading.unreadable_items)
    # A cursor that was used before would lead in a circle.
    used = {page.cursor for page in (*query.back, query.at)}
    following = None
    if reading.has_more and reading.next_cursor and reading.next_cursor not in used:
        following = query.further(PageCursor(loaded_count, reading.next_cursor))
    return PeopleWindow(
        query=query,
        items=_rows(query, reading),
        total=reading.total_count,
        before=query.at.before,
        next_url=following.url if following else "",
        is_cut=reading.has_more and following is None,
        unreadable=reading.unreadable_items,
        is_restarted=is_restarted,
    )


def _rows(query: PeopleQuery, reading: ListEnvelope[Person]) -> list[PersonRow]:
    """Return the rows. The URL of a row has the person's id, or the row's number without an id."""
    closed, words = query.closed.url, query_words(query.words)
    start = f"{closed}{'&' if '?' in closed else '?'}"
    unreadable = {item.index + 1 for item in reading.unreadable_items}
    received = range(1, len(reading.items) + len(unreadable) + 1)
    rows = (row for row in received if row not in unreadable)
    return [
        PersonRow(
            person=person,
            number=query.at.before + row,
            url=f"{start}person={quote_plus(person.person_id)}"
            if person.person_id
            else f"{start}row={row}",
            marked=PersonMatch(person, words),
        )
        for row, person in zip(rows, reading.items, strict=True)
    ]


def exported_people(words: str, first: ListEnvelope[Person]) -> Iterator[Person | str]:
    """Yield each person, then a note on anything that is missing.

    Reads on from the page `first` until the service reports no more. Raises no APIError.
    """
    page, done, unreadable, used = first, 0, 0, set[str]()
    while True:
        yield from page.items
        done += len(page.items)
        unreadable += len(page.unreadable_items)
        if not page.has_more:
            break
        problem = _next_page_problem(page, used)
        if not problem:
            used.add(page.next_cursor or "")
            try:
                page = read_people(words=words, cursor=page.next_cursor, limit=EXPORT_PAGE_SIZE)
            except APIError as error:
                problem = str(error)
        if problem:
            yield f"Incomplete, {done:,} of {page.total_count:,} exported: {problem}"
            break
    if unreadable:
        yield f"Unreadable, not exported: {unreadable:,}."


def _next_page_problem(page: ListEnvelope[Person], used: set[str]) -> str:
    """Return why the next page can't be requested; "" if it can."""
    if not page.next_cursor:
        return "The service reports more but returned no cursor."
    if page.next_cursor in used:
        return "The service returned a cursor that was already used."
    if not (page.items or page.unreadable_items):
        return "The service reports more but returned an empty page."
    return f"The list didn’t end after {MAX_PAGES:,} pages." if len(used) == MAX_PAGES else ""


def person_field(match: PersonMatch, name: str, empty: str = "—") -> SafeString:
    """Render one of the `SEARCHED` fields with its matches highlighted; `empty` without text."""
    text = getattr(match.person, name)
    if not text:
        return SafeString(value_or_none(None, empty))
    if not match.words:
        return format_html('<bdi translate="no">{}</bdi>', text)
    return format_html(
        '<bdi translate="no">{}</bdi>', render_segments(match.texts[name].segments(match.words))
    )
