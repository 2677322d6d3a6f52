"""Rows of the CSV export: all matching audiences in the list's order, as last seen."""

from collections.abc import Iterator

from dashboard.contract.audiences import Audience
from dashboard.ledger.models.audiences import live_status
from dashboard.ledger.queries.audience_list import audience_coverage, iterate_audiences
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.audiences.markup import live_status_label
from dashboard.web.ui.csv import date_cell

COLUMNS = (
    "Page",
    "Page name",
    "Audience",
    "Name",
    "Latest version",
    "Latest status",
    "Live version",
    "Live since",
    "Live status",
    "New page agent",
    "Created",
    "Updated",
    "Archived",
    "Last seen",
)

Cells = tuple[object, ...]


def rows(query: AudienceListQuery) -> Iterator[Cells]:
    """Yield a row for each matching audience, then the number of pages never read, if any."""
    coverage = audience_coverage()
    for record in iterate_audiences(query.filters, sort=query.order):
        audience = Audience.from_json(record.body)
        latest, live = audience.latest_version, audience.published_version
        yield (
            record.page_id,
            record.page_name,
            record.audience_id,
            audience.name,
            latest.version_number if latest else None,
            latest.status if latest else None,
            live.version_number if live else None,
            date_cell(live.published_at) if live else None,
            live_status_label(live_status(audience)),
            {True: "yes", False: "no", None: None}[audience.is_new_page_agent],
            date_cell(audience.created_at),
            record.updated_at and record.updated_at.isoformat(timespec="seconds"),
            date_cell(audience.archived_at),
            record.last_seen_at.isoformat(timespec="seconds"),
        )
    if not coverage.is_full:
        read, total = f"{coverage.pages_read:,}", f"{coverage.pages_in_all:,}"
        yield (f"Not complete: audiences of {read} of {total} pages are loaded.",)
