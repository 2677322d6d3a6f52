"""Query, rows and pagination of the page list.

The service's list takes no filters and promises no order (spec, List pages), so filters and
sorting run on the ledger, and the page shows the coverage of the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import UnreadableValue
from dashboard.ledger.models.pages import parse_page
from dashboard.ledger.page_flags import AUDIENCE_FLAGS
from dashboard.ledger.queries.pages import (
    DEFAULT_PAGE_SORT,
    PAGE_SORTS,
    Coverage,
    Tally,
    count_all_pages,
    list_page_bodies,
)
from dashboard.service.reading import ReadResult, read_pages
from dashboard.web.ui.columns import Column, Columns, ShownColumns
from dashboard.web.ui.density import density_param
from dashboard.web.ui.load_more import PAGE_SIZE, size_param
from dashboard.web.ui.query_params import clean_param, int_param, search_param
from dashboard.web.ui.saved_views import hint_param
from dashboard.web.ui.tables import Chip, Heading, heading

PageCounts = tuple[Tally, Coverage]

READ_SIZE = 200
"""Pages of one request when the rest of the list is loaded."""
FILTER_FIELDS = {"status": "statuses", "type": "types", "flag": "flags"}
"""The query parameter of each filter, and its field of PageQuery."""
COLUMNS = Columns(
    (
        Column("name", "Name and title", sort="name"),
        Column("type", "Type", sort="type"),
        Column("status", "Status", sort="status"),
        Column("audiences", "Audiences", sort="audiences", classes="numeric"),
        Column("updated", "Updated", sort="updated", classes="numeric"),
        Column("created", "Created", classes="numeric"),
        Column("brand", "Brand ID"),
        Column("id", "Page ID"),
    ),
    default=("name", "type", "status", "audiences", "updated"),
)
DEFAULT_COLUMNS = COLUMNS.choose("")


@dataclass(frozen=True)
class ListWindow:
    """The window of the page list that a URL shows: `?cursor= after= show=`."""

    cursor: str = ""
    """The start in the service's own list; empty for its beginning."""
    before: int = 0
    """The number of rows before the window."""
    size: int = PAGE_SIZE
    """The maximum number of rows."""

    @classmethod
    def from_params(cls, params: QueryDict) -> "ListWindow":
        """Parse the query string."""
        return cls(
            cursor=params.get("cursor", ""),
            before=int_param(params.get("after", "")),
            size=size_param(params),
        )

    @property
    def is_default(self) -> bool:
        """Whether it is the default window: a service that rejects it rejects the list."""
        return not self.cursor and self.size == PAGE_SIZE


@dataclass(frozen=True)
class PageQuery:
    """Search words, filters and sort order of the page list, from its query string."""

    words: str = ""
    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Flags of its audiences: keys of AUDIENCE_FLAGS."""
    sort: str = ""
    """One of PAGE_SORTS, or empty."""
    columns: ShownColumns = DEFAULT_COLUMNS
    density: str = ""
    """One of DENSITIES, or empty."""
    view: str = ""
    """The hint of the saved view that is shown: see `web/ui/saved_views.py`."""

    @classmethod
    def from_params(cls, params: QueryDict) -> "PageQuery":
        """Parse `?q= status= type= flag= sort= columns= density= view=`.

        Unknown flags and sort orders are dropped.
        """

        def values(name: str) -> tuple[str, ...]:
            cleaned = dict.fromkeys(map(clean_param, params.getlist(name)))
            return tuple(filter(None, cleaned))[:PAGE_SIZE]

        sort = params.get("sort", "")
        return cls(
            words=search_param(params),
            statuses=values("status"),
            types=values("type"),
            flags=tuple(flag for flag in values("flag") if flag in AUDIENCE_FLAGS),
            sort=sort if sort in PAGE_SORTS else "",
            columns=COLUMNS.choose(params.get("columns", "")),
            density=density_param(params),
            view=hint_param(params),
        )

    @property
    def is_filtered(self) -> bool:
        """Whether pages are filtered out, so that the total counts matches."""
        return bool(self.words or self.statuses or self.types or self.flags)

    @property
    def is_plain(self) -> bool:
        """Whether the service's own list can be shown."""
        return not self.is_filtered and not self.sort

    def url(self, **more: str | int) -> str:
        """Return the query string of this query, such as `?q=fleet&status=draft`."""
        params = {
            "q": self.words,
            "status": self.statuses,
            "type": self.types,
            "flag": self.flags,
            "sort": self.sort,
            "columns": self.columns.param,
            "density": self.density,
            "view": self.view,
        }
        given = {name: value for name, value in (params | more).items() if value not in ("", ())}
        return "?" + urlencode(given, doseq=True)

    @property
    def chips(self) -> list["Chip"]:
        """Every active filter, with the URL that removes it."""
        chips = [Chip("words", self.words, replace(self, words="").url())] if self.words else []
        for kind, field_name in FILTER_FIELDS.items():
            chosen = getattr(self, field_name)
            for value in chosen:
                rest: dict[str, Any] = {field_name: tuple(one for one in chosen if one != value)}
                chips.append(Chip(kind, value, replace(self, **rest).url()))
        return chips

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `type`, `status`, `audiences`, `updated`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).url()

        first = ("name", "type", "status", "-audiences", "-updated")
        return {sort.removeprefix("-"): heading(self.sort, sort, sorted_by) for sort in first}


@dataclass(frozen=True)
class PageRows:
    """One window of the page list."""

    items: list[PageItem]
    total: int
    """The number of pages in the list, or of matches."""
    before: int = 0
    """The number of rows before these."""
    next_url: str = ""
    """The query string of the next rows; empty if there are none."""
    is_cut: bool = False
    """Whether the service has more, but sent no cursor."""
    unreadable: Sequence[UnreadableValue] = ()
    sort: str = ""
    """One of PAGE_SORTS; empty in the service's own order."""
    last_seen: int = 0
    """The number of rows that show the last known state."""

    @property
    def shown(self) -> int:
        """The number of rows shown, including those before these."""
        return self.before + len(self.items) + len(self.unreadable)

    @property
    def next_count(self) -> int:
        """The maximum number of rows that "load more" adds."""
        return min(PAGE_SIZE, max(self.total - self.shown, 1))


def service_rows(found: ListEnvelope[PageItem], query: PageQuery, *, before: int) -> PageRows:
    """Return the rows of one response of the service's own list, which `query` shows."""
    rows = PageRows(
        items=found.items,
        total=found.total_count,
        before=before,
        unreadable=found.unreadable_items,
    )
    if not found.has_more:
        return rows
    if not found.next_cursor:
        return replace(rows, is_cut=True)
    return replace(rows, next_url=query.url(cursor=found.next_cursor, after=rows.shown))


def ledger_rows(query: PageQuery, window: ListWindow, *, total: int) -> PageRows:
    """Return a window of the `total` matching pages in the ledger; one query."""
    bodies = list_page_bodies(
        words=query.words,
        statuses=query.statuses,
        types=query.types,
        flags=query.flags,
        sort=query.sort,
        start=window.before,
        size=window.size,
        total=total,
    )
    rows = PageRows(
        items=[parse_page(body) for body in bodies],
        total=total,
        before=window.before,
        sort=query.sort or DEFAULT_PAGE_SORT,
    )
    if rows.shown >= rows.total or not rows.items:
        return rows
    return replace(rows, next_url=query.url(after=rows.shown))


def read_window(query: PageQuery, window: ListWindow) -> tuple[ReadResult[PageRows], PageCounts]:
    """Fetch a window of the service's list, or load the last known pages if that fails.

    The query `is_plain`.

    Once all pages are known, the list gets the ledger's default order, as the spec promises none.
    Until then it has the service's order, in which its cursors continue.

    Raises APIError if no page was ever seen, or if the service rejects the cursor or the limit.
    """
    ordered = replace(query, sort=DEFAULT_PAGE_SORT)
    try:
        found = read_pages(cursor=window.cursor or None, limit=window.size)
    except APIError as error:
        tally, coverage = count_all_pages()
        is_rejected = isinstance(error, InvalidRequestError | NotFoundError)
        if coverage.as_of is None or (is_rejected and not window.is_default):
            raise
        rows = ledger_rows(ordered, window, total=coverage.known)
        return ReadResult(rows, coverage.as_of, error), (tally, coverage)
    rows = service_rows(found, query, before=window.before)
    tally, coverage = count_all_pages()
    if not (window.cursor or found.unreadable_items):
        read = len(found.items)
        # If one more call completes the list, make it now.
        if coverage.missing and found.next_cursor and found.total_count - read <= READ_SIZE:
            read = load_next_batch(found.next_cursor, done=read).done
            tally, coverage = count_all_pages()
        if coverage.is_exact:
            rows = ledger_rows(ordered, window, total=coverage.known)
            rows = replace(rows, last_seen=max(coverage.known - read, 0))
    return ReadResult(rows, timezone.now()), (tally, coverage)


@dataclass(frozen=True)
class LoadProgress:
    """The progress of loading the whole list."""

    done: int
    total: int | None
    cursor: str
    """The cursor of the next batch; empty at the start and at the end."""
    error: APIError | None = None

    @property
    def has_more(self) -> bool:
        """Whether the next batch can be fetched at once."""
        return bool(self.cursor) and self.error is None


def load_next_batch(cursor: str, *, done: int) -> LoadProgress:
    """Fetch and record the next batch of the whole list.

    Loading ends if there is no more, or if a batch is empty or repeats its own cursor.
    """
    try:
        found = read_pages(cursor=cursor or None, limit=READ_SIZE)
    except APIError as error:
        return LoadProgress(done, None, cursor, error)
    count = len(found.items) + len(found.unreadable_items)
    next_cursor = found.next_cursor or ""
    is_end = not (found.has_more and count) or next_cursor == cursor
    return LoadProgress(done + count, found.total_count, "" if is_end else next_cursor)
