"""The whole result of a search for people, row by row, as a file has it."""

from collections.abc import Iterator

from dashboard.client import APIError
from dashboard.contract.dates import read_date
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.people import Person
from dashboard.web.readings import read_people

PART = 200
"""People asked for at a time; a service may give fewer (spec: the most is not shown)."""
MOST_PARTS = 20_000
"""Parts after which a list is taken to have no end."""
COLUMNS = (
    "Person",
    "Tenant",
    "Name",
    "Email",
    "Domain",
    "Slug",
    "Phone",
    "LinkedIn",
    "Created",
    "Updated",
)

Cells = tuple[object, ...]


def first_part(words: str) -> ListEnvelope[Person]:
    """Read where an export begins. Raises APIError: nothing has been sent by then."""
    return read_people(words=words, limit=PART)


def rows(words: str, first: ListEnvelope[Person]) -> Iterator[Cells]:
    """Yield a row a person, reading on from the first part; then how it ended, where not well.

    It reads on until the service says that there is no more, and raises nothing.
    """
    part, done, unreadable, used = first, 0, 0, set[str]()
    while True:
        yield from map(_cells, part.items)
        done += len(part.items)
        unreadable += len(part.unreadable)
        if not part.has_more:
            break
        problem = _no_way_on(part, used)
        if not problem:
            used.add(part.next_cursor or "")
            try:
                part = read_people(words=words, cursor=part.next_cursor, limit=PART)
            except APIError as error:
                problem = str(error)
        if problem:
            yield (f"Cut here after {done:,} of {part.total_count:,}: {problem}",)
            break
    if unreadable:
        yield (f"Left out, as they could not be read: {unreadable:,}.",)


def _no_way_on(part: ListEnvelope[Person], used: set[str]) -> str:
    """Return why the next part can't be asked for; empty where it can."""
    if not part.next_cursor:
        return "The service says there is more, and gives no way to ask for it."
    if part.next_cursor in used:
        return "The service leads back to a part that was read already."
    if not (part.items or part.unreadable):
        return "The service says there is more, and sends nothing."
    return "The list has no end." if len(used) == MOST_PARTS else ""


def _cells(person: Person) -> Cells:
    return (
        person.person_id,
        person.tenant_id,
        person.name,
        person.email,
        person.domain,
        person.slug,
        person.phone_number,
        person.linkedin_profile_url,
        _date(person.created_at),
        _date(person.updated_at),
    )


def _date(text: str | None) -> str | None:
    """Return the moment in a date text as ISO 8601 in UTC, or the text as it came."""
    found = read_date(text)
    return found.isoformat(timespec="seconds") if found else text
