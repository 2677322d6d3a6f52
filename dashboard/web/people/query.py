"""The query string of the list of people.

The service's cursors lead forward only (spec, Pagination), so the URL also contains the cursors
of the earlier pages.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.web.ui.columns import Column, Columns, ShownColumns
from dashboard.web.ui.density import density_param
from dashboard.web.ui.load_more import MAX_SHOWN, PAGE_SIZE, size_param
from dashboard.web.ui.query_params import int_param, search_param
from dashboard.web.ui.saved_views import hint_param
from dashboard.web.ui.urls import cached_reverse

MAX_BACK_CHARACTERS = 800
"""Total length of the earlier cursors: servers limit a URL to 4,094 characters."""

COLUMNS = Columns(
    (
        Column("name", "Name and email"),
        Column("domain", "Domain", classes="hide-on-phone"),
        Column("phone", "Phone", classes="hide-on-phone"),
        Column("updated", "Updated", classes="numeric"),
        Column("created", "Created", classes="numeric"),
        Column("slug", "Slug"),
        Column("linkedin", "LinkedIn"),
        Column("id", "Person ID"),
    ),
    default=("name", "domain", "phone", "updated"),
)
DEFAULT_COLUMNS = COLUMNS.choose("")


@dataclass(frozen=True)
class PageCursor:
    """Where a page of the list begins; by default at the start."""

    before: int = 0
    """The number of people before it."""
    cursor: str = ""

    def to_param(self) -> str:
        """Return the cursor as a URL parameter, such as `50-abc`."""
        return f"{self.before}-{self.cursor}"

    @classmethod
    def from_param(cls, text: str) -> "PageCursor | None":
        """Parse a URL parameter; None if it is invalid."""
        before, dash, cursor = text.partition("-")
        return cls(int_param(before), cursor) if dash and before.isdecimal() else None


START = PageCursor()


@dataclass(frozen=True)
class PeopleQuery:
    """The people to show: a search, a window of its result, and the open person."""

    words: str = ""
    at: PageCursor = START
    back: tuple[PageCursor, ...] = ()
    """The starts of the earlier pages, the nearest last; distant ones are left out."""
    person: str = ""
    """The id of the open person."""
    row: int = 0
    """The row of an open person without an id; counts from 1."""
    size: int = PAGE_SIZE
    """The maximum number of people."""
    columns: ShownColumns = DEFAULT_COLUMNS
    density: str = ""
    """One of DENSITIES, or empty."""
    view: str = ""
    """The hint of the saved view that is shown: see `web/ui/saved_views.py`."""

    @classmethod
    def from_params(cls, params: QueryDict) -> "PeopleQuery":
        """Parse `?q= cursor= after= back= person= row= show= columns= density= view=`."""
        back = map(PageCursor.from_param, params.getlist("back"))
        cursor = params.get("cursor", "")
        return cls(
            words=search_param(params),
            at=PageCursor(int_param(params.get("after", "")), cursor) if cursor else START,
            back=_nearest(filter(None, back)) if cursor else (),
            person=params.get("person", "").replace("\0", ""),
            row=int_param(params.get("row", "")),
            size=size_param(params),
            columns=COLUMNS.choose(params.get("columns", "")),
            density=density_param(params),
            view=hint_param(params),
        )

    @property
    def is_open(self) -> bool:
        """Whether a person is open."""
        return bool(self.person or self.row)

    @property
    def first(self) -> "PeopleQuery":
        """The same search from its start."""
        return PeopleQuery(
            words=self.words, columns=self.columns, density=self.density, view=self.view
        )

    @property
    def closed(self) -> "PeopleQuery":
        """The same window without an open person."""
        return replace(self, person="", row=0)

    @property
    def previous(self) -> "PeopleQuery | None":
        """The page before this; None if unknown."""
        if not self.back:
            return None
        return replace(self.first, at=self.back[-1], back=self.back[:-1])

    def further(self, place: PageCursor) -> "PeopleQuery":
        """Return the query of a later page."""
        back = _nearest((*self.back, self.at))
        return replace(self.first, at=place, back=back)

    def grown(self, more: "PeopleQuery", end: int) -> "PeopleQuery":
        """Extend the window by `more`, a page up to the person of number `end`.

        If that exceeds MAX_SHOWN, return the added page alone, or this one if a person is open.
        """
        if self.words != more.words:
            return more
        size = end - self.at.before
        if size <= MAX_SHOWN:
            return replace(self, size=max(size, PAGE_SIZE))
        return self if self.is_open else more

    def opened_in(self, shown: "PeopleQuery") -> "PeopleQuery":
        """Return the `shown` list with this query's person open."""
        before = self.at.before - shown.at.before
        if self.words != shown.words or not 0 <= before < shown.size:
            return self
        return replace(shown, person=self.person, row=self.row and self.row + before)

    @cached_property
    def url(self) -> str:
        """The URL of this query, such as `/people/?q=ada`."""
        params: dict[str, object] = {
            "q": self.words,
            "cursor": self.at.cursor,
            "after": self.at.before,
            "back": [page.to_param() for page in self.back],
            "person": self.person,
            "row": self.row,
            "show": self.size if self.size > PAGE_SIZE else 0,
            "columns": self.columns.param,
            "density": self.density,
            "view": self.view,
        }
        query = urlencode({name: value for name, value in params.items() if value}, doseq=True)
        return cached_reverse("people-list") + (f"?{query}" if query else "")

    @property
    def export_url(self) -> str:
        """The URL of the CSV export."""
        query = urlencode({"q": self.words}) if self.words else ""
        return cached_reverse("people-export") + (f"?{query}" if query else "")


def _nearest(pages: Iterable[PageCursor]) -> tuple[PageCursor, ...]:
    """Return the last pages that fit into MAX_BACK_CHARACTERS."""
    nearest = tuple(pages)
    while len("".join(map(PageCursor.to_param, nearest))) > MAX_BACK_CHARACTERS:
        nearest = nearest[1:]
    return nearest
