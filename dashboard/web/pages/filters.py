"""Filters of the page list, with the number of pages for each option."""

from collections.abc import Mapping
from functools import partial

from dashboard.contract.pages import PageStatus, PageType
from dashboard.ledger.models import PageRecord
from dashboard.ledger.page_flags import AUDIENCE_FLAGS
from dashboard.ledger.queries.filter_values import values_found
from dashboard.ledger.queries.pages import (
    NOT_GIVEN,
    PAGE_SORTS,
    Tally,
    count_flags,
    find_pages,
)
from dashboard.web.pages.listing import PageQuery
from dashboard.web.ui.ignored_values import KnownValues
from dashboard.web.ui.tables import FilterOption, choices

STATUSES = [PageStatus.PUBLISHED, PageStatus.DRAFT, PageStatus.ARCHIVED]
KNOWN_VALUES = {
    "status": KnownValues(
        "Status", {*PageStatus, NOT_GIVEN}, partial(values_found, PageRecord, "status")
    ),
    "type": KnownValues(
        "Type", {*PageType, NOT_GIVEN}, partial(values_found, PageRecord, "page_type")
    ),
    "flag": KnownValues("Filter", {*AUDIENCE_FLAGS}),
    "sort": KnownValues("Order", {*PAGE_SORTS}),
}
"""The values of the list's filters."""


def page_filters(query: PageQuery, tally: Tally) -> dict[str, list[FilterOption]]:
    """Return the options of every filter, with the number of pages for each but the flags."""
    return {
        "statuses": choices(STATUSES, tally.by_status(query.types), query.statuses),
        "types": choices(PageType, tally.by_type(query.statuses), query.types),
        "flags": flag_options(query, counted=False),
    }


def flag_options(query: PageQuery, *, counted: bool) -> list[FilterOption]:
    """Return the options of the audience flags; one query if counted.

    The browser fetches the counts when the menu is opened.
    """
    counts: Mapping[str, int] = {}
    if counted:
        pages = find_pages(words=query.words, statuses=query.statuses, types=query.types)
        counts = count_flags(pages)
    return [FilterOption(flag, counts.get(flag), flag in query.flags) for flag in AUDIENCE_FLAGS]
