"""The list of pages: its search, filters, columns and orders."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db.models import QuerySet

from dashboard.contract.pages import PageStatus, PageType
from dashboard.ledger.models import PageRecord
from dashboard.ledger.queries.pages import AUDIENCE_FLAGS, NOT_GIVEN, Tally, count_flags, find_pages
from dashboard.ledger.queries.rows import existing_values
from dashboard.saved_views.models import ListName
from dashboard.web.audiences.markup import live_status_label
from dashboard.web.lists.columns import Column, Columns
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import SEARCH, Choice, FilterOption
from dashboard.web.lists.state import ListState
from dashboard.web.ui.csv import Cell, date_of
from dashboard.web.ui.markup import STATUSES, page_type, status_badge


def page_status(value: str) -> str:
    """Return the label of a page's status. An unknown status is its own label."""
    label, _, _ = STATUSES.get(value, (value, "", ""))
    return "Unknown" if value == NOT_GIVEN else label


STATUS = Choice(
    "status",
    "Status",
    several=True,
    values=(PageStatus.PUBLISHED, PageStatus.DRAFT, PageStatus.ARCHIVED),
    others={*PageStatus, NOT_GIVEN},
    find=partial(existing_values, PageRecord, "status"),
    label_of=page_status,
    badge_of=lambda value: "Unknown" if value == NOT_GIVEN else status_badge(value),
)
TYPE = Choice(
    "type",
    "Type",
    several=True,
    values=[*PageType],
    others=[NOT_GIVEN],
    find=partial(existing_values, PageRecord, "page_type"),
    label_of=lambda value: "Unknown" if value == NOT_GIVEN else page_type(value),
    icon="tag",
)
FLAG = Choice(
    "flag",
    "Audiences",
    several=True,
    values=[*AUDIENCE_FLAGS],
    label_of=live_status_label,
    icon="audience",
    missing_label="Filter",
)
PAGES = ListDefinition(
    name=ListName.PAGES,
    search=SEARCH,
    filters=(STATUS, TYPE, FLAG),
    columns=Columns(
        (
            Column("name", "Name and title", sort="name", heading="Name", value="page.name"),
            Column("type", "Type", sort="type", value="page.page_type"),
            Column("status", "Status", sort="status", value="page.status"),
            Column("audiences", "Audiences", "-audiences", "numeric", "page.audiences_count"),
            Column("updated", "Updated", "-updated", "numeric", date_of("page.updated_at")),
            Column("created", "Created", "", "numeric", date_of("page.created_at")),
            Column("brand", "Brand ID", heading="Brand", value="page.brand_id"),
            Column("id", "Page ID", heading="Page", value="page.page_id"),
        ),
        default=("name", "type", "status", "audiences", "updated"),
    ),
    csv=(
        "id",
        Cell("Tenant", "page.tenant_id"),
        "brand",
        "name",
        Cell("Title", "page.title"),
        *("type", "status", "audiences", "created", "updated"),
        Cell("Archived", date_of("page.archived_at")),
        Cell("Deleted", date_of("page.deleted_at")),
        Cell("Last seen", "last_seen_at"),
    ),
    start="after",
    cursor="cursor",
    progress=("read",),
    find=lambda state: find_pages(**filters_of(state)),
)


def filters_of(state: ListState) -> dict[str, Any]:
    return {
        "words": state.words,
        "statuses": state.values(STATUS),
        "types": state.values(TYPE),
        "flags": state.values(FLAG),
    }


def filter_options(state: ListState, tally: Tally) -> dict[str, list[FilterOption]]:
    """Return the options of every filter. Those of status and type have a number of pages."""
    statuses, types = state.values(STATUS), state.values(TYPE)
    return {
        STATUS.param: STATUS.options(tally.by_status(types), statuses),
        TYPE.param: TYPE.options(tally.by_type(statuses), types),
        FLAG.param: flag_options(state, counted=False),
    }


def flag_options(state: ListState, *, counted: bool) -> list[FilterOption]:
    """Return the options of the audience flags. Makes one query if `counted`.

    The browser fetches the counts when the menu opens.
    """
    counts: Mapping[str, int] = {}
    if counted:
        pages: QuerySet[PageRecord] = find_pages(**filters_of(state) | {"flags": ()})
        counts = count_flags(pages)
    chosen = state.values(FLAG)
    return [FilterOption(flag, counts.get(flag), flag in chosen) for flag in AUDIENCE_FLAGS]
