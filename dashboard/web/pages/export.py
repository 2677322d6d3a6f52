"""Rows of the CSV export: all matching pages in the list's order, as last seen."""

from collections.abc import Iterator

from dashboard.contract.pages import PageItem
from dashboard.ledger.queries.pages import find_pages, iterate_page_bodies, pages_coverage
from dashboard.web.pages.listing import PageQuery
from dashboard.web.ui.csv import date_cell

COLUMNS = (
    "Page",
    "Tenant",
    "Brand",
    "Name",
    "Title",
    "Type",
    "Status",
    "Audiences",
    "Created",
    "Updated",
    "Archived",
    "Deleted",
    "Last seen",
)

Cells = tuple[object, ...]


def rows(query: PageQuery) -> Iterator[Cells]:
    """Yield a row for each matching page, then the number of pages never seen, if any."""
    coverage = pages_coverage()
    found = find_pages(
        words=query.words, statuses=query.statuses, types=query.types, flags=query.flags
    )
    for body, last_seen_at in iterate_page_bodies(found, sort=query.sort):
        seen = last_seen_at.isoformat(timespec="seconds")
        yield (*_cells(PageItem.from_json(body)), seen)
    if coverage.missing:
        yield (f"Not included: {coverage.missing:,} of {coverage.total:,} pages, not loaded yet.",)


def _cells(page: PageItem) -> Cells:
    return (
        page.page_id,
        page.tenant_id,
        page.brand_id,
        page.name,
        page.title,
        page.page_type,
        page.status,
        page.audiences_count,
        date_cell(page.created_at),
        date_cell(page.updated_at),
        date_cell(page.archived_at),
        date_cell(page.deleted_at),
    )
