"""The filters over the list of pages: what can be chosen, and how many each choice leaves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.contract.pages import PageStatus, PageType
from dashboard.ledger.queries.audiences import STANDINGS
from dashboard.ledger.queries.pages import NOT_GIVEN, Tally, count_standings, find_pages
from dashboard.web.page_lists import PageQuery

STATUSES = [PageStatus.PUBLISHED, PageStatus.DRAFT, PageStatus.ARCHIVED]


@dataclass(frozen=True)
class Choice:
    """One value of a filter."""

    value: str
    count: int | None
    """How many of the list have it, the other filters applied; None where not counted."""
    is_chosen: bool

    @property
    def is_not_given(self) -> bool:
        """Whether it stands for those that have none, as far as the service said."""
        return self.value == NOT_GIVEN


@dataclass(frozen=True)
class PageFilters:
    """What the list of pages can be narrowed by, and is."""

    query: PageQuery
    statuses: tuple[Choice, ...]
    types: tuple[Choice, ...]
    standings: tuple[Choice, ...]
    """Not counted."""

    @classmethod
    def over(cls, query: PageQuery, tally: Tally) -> "PageFilters":
        """Return the filters, with how many pages each choice leaves."""
        return cls(
            query,
            tuple(choices(STATUSES, tally.by_status(query.types), query.statuses)),
            tuple(choices(PageType, tally.by_type(query.statuses), query.types)),
            tuple(standing_choices(query, counted=False)),
        )


def standing_choices(query: PageQuery, *, counted: bool) -> list[Choice]:
    """Return how the audiences of a page may stand; one query where they are counted.

    The page asks for the counts when the menu is opened.
    """
    counts: Mapping[str, int] = {}
    if counted:
        found = find_pages(words=query.words, statuses=query.statuses, types=query.types)
        counts = count_standings(found)
    return [Choice(way, counts.get(way), way in query.standings) for way in STANDINGS]


def choices(known: Iterable[str], counts: Mapping[str, int], chosen: Iterable[str]) -> list[Choice]:
    """Return the spec's values, then others that were seen or chosen, "not given" last."""
    values = dict.fromkeys([*map(str, known), *sorted(counts), *chosen])
    ordered = sorted(values, key=lambda value: value == NOT_GIVEN)
    return [Choice(value, counts.get(value, 0), value in {*chosen}) for value in ordered]
