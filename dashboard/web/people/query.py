"""The query string of the list of people.

The service's cursors lead forward only (spec, Pagination). So the URL also holds the cursors of
earlier pages.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.functional import cached_property

from dashboard.saved_views.models import ListName
from dashboard.web.lists.columns import Column, Columns
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import SEARCH
from dashboard.web.lists.state import ListState
from dashboard.web.ui.csv import Cell, date_of
from dashboard.web.ui.query_params import MAX_SHOWN, PAGE_SIZE, SHOW, int_param
from dashboard.web.ui.urls import cached_reverse

MAX_BACK_CHARACTERS = 800
"""Maximum total length of the earlier cursors. Servers limit a URL to 4,094 characters."""
BACK, PERSON, ROW = "back", "person", "row"
"""Query parameters of the earlier pages and of the open person."""
PEOPLE = ListDefinition(
    name=ListName.PEOPLE,
    search=SEARCH,
    columns=Columns(
        (
            Column("name", "Name and email", heading="Name", value="name"),
            Column("domain", "Domain", classes="hide-on-phone", value="domain"),
            Column("phone", "Phone", classes="hide-on-phone", value="phone_number"),
            Column("updated", "Updated", classes="numeric", value=date_of("updated_at")),
            Column("created", "Created", classes="numeric", value=date_of("created_at")),
            Column("slug", "Slug", value="slug"),
            Column("linkedin", "LinkedIn", value="linkedin_profile_url"),
            Column("id", "Person ID", heading="Person", value="person_id"),
        ),
        default=("name", "domain", "phone", "updated"),
    ),
    csv=(
        "id",
        Cell("Tenant", "tenant_id"),
        "name",
        Cell("Email", "email"),
        *("domain", "slug", "phone", "linkedin", "created", "updated"),
    ),
    start="after",
    cursor="cursor",
    progress=(BACK,),
)


@dataclass(frozen=True)
class PageCursor:
    """Where a page of the list begins. The default is the start."""

    before: int = 0
    """Number of people before the page."""
    cursor: str = ""

    def to_param(self) -> str:
        """Return the cursor as a value in the URL, such as `50-abc`."""
        return f"{self.before}-{self.cursor}"

    @classmethod
    def from_param(cls, text: str) -> "PageCursor | None":
        """Parse a value in the URL; None if it is invalid."""
        before, dash, cursor = text.partition("-")
        return cls(int_param(before), cursor) if dash and before.isdecimal() else None


@dataclass(frozen=True)
class PeopleQuery:
    """The people to show: a search, a window of its result, and the open person."""

    state: ListState
    back: tuple[PageCursor, ...] = ()
    """Starts of the earlier pages, nearest last. Distant ones are left out."""
    person: str = ""
    row: int = 0
    """Row of an open person without an id, counted from 1."""

    @classmethod
    def of(cls, state: ListState, params: QueryDict) -> "PeopleQuery":
        """Add the parameters that only this list has: `?back= person= row=`."""
        back = map(PageCursor.from_param, params.getlist(BACK))
        return cls(
            state if state.cursor else replace(state, start_text=""),
            back=_nearest(filter(None, back)) if state.cursor else (),
            person=params.get(PERSON, "").replace("\0", ""),
            row=int_param(params.get(ROW, "")),
        )

    @property
    def words(self) -> str:
        return self.state.words

    @property
    def at(self) -> PageCursor:
        """Start of the window."""
        return PageCursor(self.state.start, self.state.cursor)

    @property
    def is_open(self) -> bool:
        return bool(self.person or self.row)

    @property
    def first(self) -> "PeopleQuery":
        """The same search from its start."""
        return PeopleQuery(self.state.from_start)

    @property
    def closed(self) -> "PeopleQuery":
        return replace(self, person="", row=0)

    @property
    def previous(self) -> "PeopleQuery | None":
        """The page before this one; None if unknown."""
        if not self.back:
            return None
        return self._from(self.back[-1], self.back[:-1])

    def further(self, place: PageCursor) -> "PeopleQuery":
        """Return the query of a later page."""
        return self._from(place, _nearest((*self.back, self.at)))

    def grown(self, more: "PeopleQuery", end: int) -> "PeopleQuery":
        """Extend the window by `more`, the query of a page that ends with person number `end`.

        If that exceeds MAX_SHOWN, return the added page only, or this query if a person is open.
        """
        if self.words != more.words:
            return more
        size = end - self.at.before
        if size <= MAX_SHOWN:
            return replace(self, state=replace(self.state, size=max(size, PAGE_SIZE)))
        return self if self.is_open else more

    def opened_in(self, list_query: "PeopleQuery") -> "PeopleQuery":
        """Return `list_query` with this query's person open."""
        before = self.at.before - list_query.at.before
        if self.words != list_query.words or not 0 <= before < list_query.state.size:
            return self
        return replace(list_query, person=self.person, row=self.row and self.row + before)

    @cached_property
    def url(self) -> str:
        place: dict[str, str | int | list[str]] = {
            PEOPLE.cursor: self.at.cursor,
            PEOPLE.start: self.at.before,
            BACK: [page.to_param() for page in self.back],
            PERSON: self.person,
            ROW: self.row,
            SHOW: self.state.size if self.state.size > PAGE_SIZE else 0,
        }
        more = {name: value for name, value in place.items() if value}
        return cached_reverse("people-list") + self.state.url(**more).removesuffix("?")

    @property
    def export_url(self) -> str:
        search = ListState(
            PEOPLE,
            {list_filter: self.state.values(list_filter) for list_filter in PEOPLE.narrowing},
        )
        return cached_reverse("people-export") + search.url().removesuffix("?")

    def _from(self, place: PageCursor, back: tuple[PageCursor, ...]) -> "PeopleQuery":
        start = replace(self.state.from_start, cursor=place.cursor, start_text=str(place.before))
        return PeopleQuery(start, back)


def _nearest(pages: Iterable[PageCursor]) -> tuple[PageCursor, ...]:
    """Return the last pages that fit into MAX_BACK_CHARACTERS."""
    nearest = tuple(pages)
    while len("".join(map(PageCursor.to_param, nearest))) > MAX_BACK_CHARACTERS:
        nearest = nearest[1:]
    return nearest
