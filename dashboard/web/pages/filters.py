"""Filters of the page list, with the number of pages for each option."""

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.contract.pages import PageStatus, PageType
from dashboard.ledger.page_flags import AUDIENCE_FLAGS
from dashboard.ledger.queries.pages import Tally, count_flags, find_pages
from dashboard.web.pages.listing import PageQuery
from dashboard.web.ui.tables import FilterOption, choices

STATUSES = [PageStatus.PUBLISHED, PageStatus.DRAFT, PageStatus.ARCHIVED]


@dataclass(frozen=True)
class PageFilters:
    """The options of every filter of the page list."""

    query: PageQuery
    statuses: tuple[FilterOption, ...]
    types: tuple[FilterOption, ...]
    flags: tuple[FilterOption, ...]
    """Without counts."""

    @classmethod
    def over(cls, query: PageQuery, tally: Tally) -> "PageFilters":
        """Return the filters, with the number of pages for each option."""
        return cls(
            query,
            tuple(choices(STATUSES, tally.by_status(query.types), query.statuses)),
            tuple(choices(PageType, tally.by_type(query.statuses), query.types)),
            tuple(flag_options(query, counted=False)),
        )


def flag_options(query: PageQuery, *, counted: bool) -> list[FilterOption]:
    """Return the options of the audience flags; one query if counted.

    The browser fetches the counts when the menu is opened.
    """
    counts: Mapping[str, int] = {}
    if counted:
        pages = find_pages(words=query.words, statuses=query.statuses, types=query.types)
        counts = count_flags(pages)
    return [FilterOption(flag, counts.get(flag), flag in query.flags) for flag in AUDIENCE_FLAGS]
