"""Rows of the CSV export of people."""

from collections.abc import Iterator

from dashboard.client import APIError
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.people import Person
from dashboard.service.reading import read_people
from dashboard.web.ui.csv import date_cell

PAGE_SIZE = 200
"""People per request; the service may return fewer (spec: its maximum is not shown)."""
MAX_PAGES = 20_000
"""Pages after which a list is considered endless."""
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


def rows(words: str, first: ListEnvelope[Person]) -> Iterator[Cells]:
    """Yield one row per person, then a row on anything that is missing.

    Reads from the first page until the service reports no more; raises nothing.
    """
    page, done, unreadable, used = first, 0, 0, set[str]()
    while True:
        yield from map(_cells, page.items)
        done += len(page.items)
        unreadable += len(page.unreadable_items)
        if not page.has_more:
            break
        problem = _next_page_problem(page, used)
        if not problem:
            used.add(page.next_cursor or "")
            try:
                page = read_people(words=words, cursor=page.next_cursor, limit=PAGE_SIZE)
            except APIError as error:
                problem = str(error)
        if problem:
            yield (f"Incomplete, {done:,} of {page.total_count:,} exported: {problem}",)
            break
    if unreadable:
        yield (f"Unreadable, not exported: {unreadable:,}.",)


def _next_page_problem(page: ListEnvelope[Person], used: set[str]) -> str:
    """Return why the next page can't be requested; "" if it can."""
    if not page.next_cursor:
        return "The service reports more but returned no cursor."
    if page.next_cursor in used:
        return "The service returned a cursor that was already used."
    if not (page.items or page.unreadable_items):
        return "The service reports more but returned an empty page."
    return f"The list didn't end after {MAX_PAGES:,} pages." if len(used) == MAX_PAGES else ""


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
        date_cell(person.created_at),
        date_cell(person.updated_at),
    )
