"""Rows and pagination of the list of pages.

The service's list takes no filters and promises no order (spec, List pages). So filters and
sorting use the ledger, and the page says how much of the service the ledger covers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from dashboard import clock
from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.queries.operations import troubled_pages
from dashboard.ledger.queries.pages import (
    DEFAULT_PAGE_SORT,
    Coverage,
    Tally,
    count_all_pages,
    iterate_page_bodies,
    list_page_bodies,
    pages_coverage,
    tally_pages,
)
from dashboard.service.reading import ReadResult, read_pages
from dashboard.web.lists.state import ListState
from dashboard.web.lists.window import Window
from dashboard.web.pages.filters import FLAG, STATUS, TYPE, filter_options, filters_of

PageCounts = tuple[Tally, Coverage]

READ_SIZE = 200
"""Pages in one request when the rest of the list is loaded."""


@dataclass(frozen=True)
class PageRows(Window[PageItem]):
    sort: str = ""
    """Order of the rows, one of PAGE_SORTS; empty for the service's own order."""
    last_seen: int = 0
    """Number of rows that show a last known state."""


def is_plain(state: ListState) -> bool:
    return not state.is_filtered and not state.sort


def service_rows(response: ListEnvelope[PageItem], state: ListState) -> PageRows:
    rows = PageRows(
        items=response.items,
        total=response.total_count,
        before=state.start,
        unreadable=response.unreadable_items,
    )
    if not response.has_more:
        return rows
    if not response.next_cursor:
        return replace(rows, is_cut=True)
    return replace(rows, next_url=state.url(cursor=response.next_cursor, after=rows.loaded_count))


def ledger_rows(state: ListState, *, total: int) -> PageRows:
    """Return a window of the `total` matching pages in the ledger. Makes one query."""
    bodies = list_page_bodies(
        **filters_of(state), sort=state.sort, start=state.start, size=state.size, total=total
    )
    rows = PageRows(
        items=[PageItem.from_json(body) for body in bodies],
        total=total,
        before=state.start,
        sort=state.sort or DEFAULT_PAGE_SORT,
    )
    if rows.loaded_count >= rows.total or not rows.items:
        return rows
    return replace(rows, next_url=state.url_from(rows.loaded_count))


def read_window(state: ListState) -> tuple[ReadResult[PageRows], PageCounts]:
    """Fetch a window of the service's list, or load the last known pages if that fails.

    The state must be one that `is_plain`. Once all pages are known, the list has the ledger's
    default order, as the spec promises none. Until then it has the service's order, because the
    service's cursors depend on it.

    Raises APIError if no page was ever seen, or if the service rejects the cursor or the limit.
    """
    ordered = replace(state, sort=DEFAULT_PAGE_SORT)
    try:
        reading = read_pages(cursor=state.cursor or None, limit=state.size)
    except APIError as error:
        tally, coverage = count_all_pages()
        is_rejected = isinstance(error, InvalidRequestError | NotFoundError)
        if coverage.as_of is None or (is_rejected and not state.is_at_start):
            raise
        rows = ledger_rows(ordered, total=coverage.recorded)
        return ReadResult(rows, coverage.as_of, error), (tally, coverage)
    rows = service_rows(reading, state)
    tally, coverage = count_all_pages()
    if not (state.cursor or reading.unreadable_items):
        read = len(reading.items)
        # If one more call can complete the list, make it now.
        if coverage.missing and reading.next_cursor and reading.total_count - read <= READ_SIZE:
            read = load_next_batch(reading.next_cursor, done=read).done
            tally, coverage = count_all_pages()
        if coverage.is_exact:
            rows = ledger_rows(ordered, total=coverage.recorded)
            rows = replace(rows, last_seen=max(coverage.recorded - read, 0))
    return ReadResult(rows, clock.now()), (tally, coverage)


@dataclass(frozen=True)
class LoadProgress:
    done: int
    total: int | None
    cursor: str
    """Cursor of the next batch; empty at the start and at the end."""
    error: APIError | None = None

    @property
    def has_more(self) -> bool:
        return bool(self.cursor) and self.error is None


def load_next_batch(cursor: str, *, done: int) -> LoadProgress:
    """Fetch and record the next batch of the whole list.

    Loading ends if there are no more pages, or if a batch is empty or repeats its own cursor.
    """
    try:
        reading = read_pages(cursor=cursor or None, limit=READ_SIZE)
    except APIError as error:
        return LoadProgress(done, None, cursor, error)
    count = len(reading.items) + len(reading.unreadable_items)
    next_cursor = reading.next_cursor or ""
    is_end = not (reading.has_more and count) or next_cursor == cursor
    return LoadProgress(done + count, reading.total_count, "" if is_end else next_cursor)


def ledger_context(state: ListState, *, progress: LoadProgress | None = None) -> dict[str, Any]:
    tally, coverage = tally_pages(words=state.words, flags=state.values(FLAG)), pages_coverage()
    rows = ledger_rows(state, total=tally.total(state.values(STATUS), state.values(TYPE)))
    reading = ReadResult(rows, coverage.as_of or clock.now())
    return list_context(state, reading, (tally, coverage), progress=progress)


def list_context(
    state: ListState,
    reading: ReadResult[PageRows],
    counts: PageCounts,
    *,
    progress: LoadProgress | None = None,
    restarted: bool = False,
) -> dict[str, Any]:
    done, cursor = (progress.done, progress.cursor) if progress else (0, "")
    tally, coverage = counts
    return {
        "here": "pages",
        "state": state,
        "is_plain": is_plain(state),
        "load_url": state.url(read=done, cursor=cursor),
        "reading": reading,
        "pages": reading.value,
        "failed_publishes": troubled_pages([page.page_id for page in reading.value.items]),
        "coverage": coverage,
        "options": filter_options(state, tally),
        "progress": progress,
        "restarted": restarted,
    }


class ExportedPage(NamedTuple):
    page: PageItem
    last_seen_at: datetime


def exported_pages(state: ListState) -> Iterator[ExportedPage | str]:
    """Yield each matching page, then a note if pages were never seen."""
    coverage = pages_coverage()
    for body, last_seen_at in iterate_page_bodies(state.find(), sort=state.sort):
        yield ExportedPage(PageItem.from_json(body), last_seen_at)
    if coverage.missing:
        yield f"Not included: {coverage.missing:,} of {coverage.total:,} pages, not loaded yet."
