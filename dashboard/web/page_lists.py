"""The list of pages: live as the service gives it, or searched and sorted in what was seen.

The service's list takes no filters and promises no order (spec, List pages), so whatever
narrows or sorts is answered from the ledger, and says how much of the list that knows.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.envelope import ListEnvelope, UnreadableItem
from dashboard.contract.pages import PageItem
from dashboard.ledger.models.pages import page_in
from dashboard.ledger.queries.audiences import STANDINGS
from dashboard.ledger.queries.operations import troubled_pages
from dashboard.ledger.queries.pages import (
    DEFAULT_PAGE_SORT,
    PAGE_SORTS,
    Tally,
    bodies_of_pages,
    pages_coverage,
    tally_pages,
)
from dashboard.web.asked import count_in, kept, words_in
from dashboard.web.list_headings import Heading, heading
from dashboard.web.readings import Reading, read_pages
from dashboard.web.unread import Unread, unread

PART = 50
"""Rows a part of the list has."""
MOST_SHOWN = 200
"""Rows that one address shows at most, all of them asked for at once."""
READ_PART = 200
"""Pages asked for at once when the rest is read."""
FILTERS = {"status": "statuses", "type": "types", "standing": "standings"}
"""What an address narrows by, and the field of PageQuery that has it."""


@dataclass(frozen=True)
class Stretch:
    """Which rows of a list of pages an address shows: `?cursor= after= show=`."""

    cursor: str = ""
    """Where they begin in the service's own list; empty at its start."""
    before: int = 0
    """How many rows come before them."""
    size: int = PART
    """How many they are at most."""

    @classmethod
    def of(cls, address: QueryDict) -> "Stretch":
        """Read it; a size is PART at least and MOST_SHOWN at most."""
        return cls(
            cursor=address.get("cursor", ""),
            before=count_in(address.get("after", "")),
            size=min(max(count_in(address.get("show", "")), PART), MOST_SHOWN),
        )

    @property
    def is_first_part(self) -> bool:
        """Whether it is what any service gives: one that refuses this refuses the list."""
        return not self.cursor and self.size == PART

    def grown(self, more: "Stretch", end: int) -> "Stretch":
        """Return this with the part that was added below it, up to the row of number `end`.

        Where that is more than one address shows, it is the added part alone.
        """
        size = end - self.before
        return replace(self, size=max(size, PART)) if size <= MOST_SHOWN else more

    @property
    def said(self) -> dict[str, str | int]:
        """What an address says of it; what is so anyway is left empty."""
        return {
            "cursor": self.cursor,
            "after": self.before or "",
            "show": self.size if self.size > PART else "",
        }


@dataclass(frozen=True)
class PageQuery:
    """What a list of pages is narrowed and sorted by, as its address says it."""

    words: str = ""
    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    standings: tuple[str, ...] = ()
    """Of its audiences: keys of STANDINGS."""
    sort: str = ""
    """One of PAGE_SORTS, or empty."""

    @classmethod
    def of(cls, address: QueryDict) -> "PageQuery":
        """Read `?q= status= type= standing= sort=`; what is not known there is left out."""
        sort = address.get("sort", "")
        return cls(
            words=words_in(address),
            statuses=_chosen(address, "status"),
            types=_chosen(address, "type"),
            standings=tuple(one for one in _chosen(address, "standing") if one in STANDINGS),
            sort=sort if sort in PAGE_SORTS else "",
        )

    @property
    def narrows(self) -> bool:
        """Whether pages are left out, so that the count is one of matches."""
        return bool(self.words or self.statuses or self.types or self.standings)

    @property
    def is_plain(self) -> bool:
        """Whether the service's own list answers it."""
        return not self.narrows and not self.sort

    def address(self, **more: str | int) -> str:
        """Return the query string that asks for this, such as `?q=fleet&status=draft`."""
        said = {
            "q": self.words,
            "status": self.statuses,
            "type": self.types,
            "standing": self.standings,
            "sort": self.sort,
        }
        given = {name: value for name, value in (said | more).items() if value not in ("", ())}
        return "?" + urlencode(given, doseq=True)

    @property
    def chips(self) -> list["Chip"]:
        """Everything the list is narrowed by, each with the address that is without it."""
        chips = [Chip("words", self.words, replace(self, words="").address())] if self.words else []
        for kind, field_name in FILTERS.items():
            chosen = getattr(self, field_name)
            for value in chosen:
                rest: dict[str, Any] = {field_name: tuple(one for one in chosen if one != value)}
                chips.append(Chip(kind, value, replace(self, **rest).address()))
        return chips

    def tally(self) -> Tally:
        """Count the pages that match but for status and type, by these; one query."""
        return tally_pages(words=self.words, standings=self.standings)

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `audiences`, `updated`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).address()

        first = ("name", "-audiences", "-updated")
        return {sort.removeprefix("-"): heading(self.sort, sort, sorted_by) for sort in first}


@dataclass(frozen=True)
class Chip:
    """One thing a list is narrowed by; `address` is the list without it."""

    kind: str
    """`words`, `status`, `type` or `standing`."""
    value: str
    address: str


@dataclass(frozen=True)
class Foot:
    """What stands below the rows of a list of pages: how far it has come, and the way on."""

    first: int
    """The number of the first row, where the list does not begin with it; else 0."""
    shown: int
    total: int
    narrows: bool
    """Whether the total is one of matches."""
    is_cut: bool
    unreadable: tuple[Unread, ...]
    start_address: str
    next_address: str
    next_count: int
    is_swapped: bool
    """Whether it comes with rows that are added, in place of the one that stands there."""


@dataclass(frozen=True)
class PageRows:
    """One part of a list of pages."""

    items: list[PageItem]
    total: int
    """How many the list has, or how many match."""
    before: int = 0
    """How many rows come before these."""
    next_address: str = ""
    """Where the next part is; empty where there is none."""
    is_cut: bool = False
    """Whether there is more, and the service gave no way to ask for it."""
    unreadable: list[UnreadableItem] = field(default_factory=list)

    @property
    def shown(self) -> int:
        """How many rows are shown once these are, those before them included."""
        return self.before + len(self.items) + len(self.unreadable)

    @property
    def next_count(self) -> int:
        """How many rows the next part brings at most."""
        return min(PART, max(self.total - self.shown, 1))

    def foot(self, query: PageQuery, *, are_added: bool) -> Foot:
        """Return what stands below the rows; that they `are_added` says what is before them."""
        return Foot(
            first=0 if are_added or not self.before else self.before + 1,
            shown=self.shown,
            total=self.total,
            narrows=query.narrows,
            is_cut=self.is_cut,
            unreadable=unread(self.unreadable),
            start_address=query.address(),
            next_address=self.next_address,
            next_count=self.next_count,
            is_swapped=are_added,
        )


@dataclass(frozen=True)
class Trouble:
    """The last publish on a page, where it failed or its outcome is unknown."""

    operation_key: str
    outcome: str
    requested_at: datetime


@dataclass(frozen=True)
class PageRow:
    """What a row shows of a page."""

    page_id: str
    name: str
    title: str
    page_type: str | None
    status: str | None
    audiences_count: int
    updated_at: str
    trouble: Trouble | None


def drawable(pages: list[PageItem]) -> list[PageRow]:
    """Return what the rows show of these pages; one query."""
    troubled = {
        page_id: Trouble(operation.operation_key, operation.outcome, operation.requested_at)
        for page_id, operation in troubled_pages([page.page_id for page in pages]).items()
    }
    return [
        PageRow(
            page_id=page.page_id,
            name=page.name,
            title=page.title,
            page_type=page.page_type,
            status=page.status,
            audiences_count=page.audiences_count,
            updated_at=page.updated_at,
            trouble=troubled.get(page.page_id),
        )
        for page in pages
    ]


def rows_as_listed(found: ListEnvelope[PageItem], *, before: int) -> PageRows:
    """Return the rows of one part of the service's own list."""
    rows = PageRows(
        items=found.items, total=found.total_count, before=before, unreadable=found.unreadable
    )
    if not found.has_more:
        return rows
    if not found.next_cursor:
        return replace(rows, is_cut=True)
    return replace(
        rows, next_address=PageQuery().address(cursor=found.next_cursor, after=rows.shown)
    )


def rows_as_seen(query: PageQuery, stretch: Stretch, *, total: int) -> PageRows:
    """Return a stretch of the `total` pages seen here that match; one query."""
    bodies = bodies_of_pages(
        words=query.words,
        statuses=query.statuses,
        types=query.types,
        standings=query.standings,
        sort=query.sort,
        start=stretch.before,
        size=stretch.size,
        total=total,
    )
    rows = PageRows(items=[page_in(body) for body in bodies], total=total, before=stretch.before)
    if rows.shown >= rows.total or not rows.items:
        return rows
    return replace(rows, next_address=query.address(after=rows.shown))


def listed(stretch: Stretch) -> Reading[PageRows]:
    """Return a stretch of the service's list, or the pages last known where it does not answer.

    Raises APIError where nothing was ever seen, and where the service refuses the cursor or the
    number of rows.
    """
    try:
        found = read_pages(cursor=stretch.cursor or None, limit=stretch.size)
        return Reading(rows_as_listed(found, before=stretch.before), timezone.now())
    except APIError as error:
        seen = pages_coverage()
        is_refused = isinstance(error, InvalidRequestError | NotFoundError)
        if seen.as_of is None or (is_refused and not stretch.is_first_part):
            raise
        query = PageQuery(sort=DEFAULT_PAGE_SORT)
        return Reading(rows_as_seen(query, stretch, total=seen.known), seen.as_of, error)


@dataclass(frozen=True)
class Progress:
    """How far the reading of the whole list has come."""

    done: int
    total: int | None
    cursor: str
    """Where to read on; empty at the start and at the end."""
    error: APIError | None = None

    @property
    def goes_on(self) -> bool:
        """Whether the next part can be asked for at once."""
        return bool(self.cursor) and self.error is None


def read_on(cursor: str, *, done: int) -> Progress:
    """Read and remember one more part of the whole list.

    It ends where the service says so, and where a part is empty or gives its own cursor again.
    """
    try:
        found = read_pages(cursor=cursor or None, limit=READ_PART)
    except APIError as error:
        return Progress(done, None, cursor, error)
    brought = len(found.items) + len(found.unreadable)
    next_cursor = found.next_cursor or ""
    ends = not (found.has_more and brought) or next_cursor == cursor
    return Progress(done + brought, found.total_count, "" if ends else next_cursor)


def _chosen(address: QueryDict, name: str) -> tuple[str, ...]:
    values = map(kept, address.getlist(name))
    return tuple(dict.fromkeys(value for value in values if value))[:PART]
