"""Queries of all audiences as last seen: filtered, counted, sorted, and how many are known."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import LIVE, LiveStatus
from dashboard.ledger.queries.audiences import AUDIENCE_TIMES
from dashboard.ledger.queries.pages import NOT_GIVEN, stored_values
from dashboard.ledger.queries.rows import read_in_steps
from dashboard.texts import fold

AUDIENCE_SORTS: dict[str, list[str | OrderBy]] = {
    "-updated": [F("updated_at").desc(nulls_last=True), "-pk"],
    "updated": [F("updated_at").asc(nulls_last=True), "pk"],
    "name": ["name", "pk"],
    "-name": ["-name", "-pk"],
    "-live": [F("live_since").desc(nulls_last=True), "-pk"],
    "live": [F("live_since").asc(nulls_last=True), "pk"],
}
DEFAULT_AUDIENCE_SORT = "-updated"
COLUMNS = ("live_status", "latest_status", "new_page_agent")
"""The columns that audiences are counted by, in the order of an AudienceTally's keys."""
MAX_PAGE_OPTIONS = 12
"""Pages offered at once to filter by."""


@dataclass(frozen=True)
class AudienceFilters:
    """What a list of audiences is narrowed to; an empty filter lets all pass."""

    words: str = ""
    """Each in name or id; case and accents are ignored."""
    pages: tuple[str, ...] = ()
    """Ids of pages."""
    live: tuple[str, ...] = ()
    """Values of LiveStatus, or LIVE for all but NOT_LIVE."""
    statuses: tuple[str, ...] = ()
    """Of the latest version, or NOT_GIVEN if there is none."""
    agents: tuple[str, ...] = ()
    """`yes`, `no` or NOT_GIVEN."""

    @property
    def arguments(self) -> tuple[list[str], ...]:
        """The filters as stored: words, pages, and one list for each of COLUMNS."""
        return fold(self.words).split(), list(self.pages), *self.chosen

    @property
    def chosen(self) -> tuple[list[str], ...]:
        live = [*self.live]
        if LIVE in live:
            live += [status for status in LiveStatus if status != LiveStatus.NOT_LIVE]
        return live, stored_values(self.statuses), stored_values(self.agents)


@dataclass(frozen=True)
class AudienceTally:
    """The number of audiences for each combination of the values of COLUMNS, as stored."""

    counts: Mapping[tuple[str, str, str], int]

    def total(self, filters: AudienceFilters) -> int:
        return sum(self.by(COLUMNS[0], filters, with_own=True).values())

    def by(
        self, column: str, filters: AudienceFilters, *, with_own: bool = False
    ) -> dict[str, int]:
        """Count audiences by a column's values, narrowed by the other columns' filters.

        With `with_own` by the column's own filter, too.
        """
        place, sums = COLUMNS.index(column), Counter[str]()
        for key, count in self.counts.items():
            if all(
                not chosen or key[at] in chosen or (at == place and not with_own)
                for at, chosen in enumerate(filters.chosen)
            ):
                sums[key[place] or NOT_GIVEN] += count
        return dict(sums)


class ListedColumns(NamedTuple):
    """An audience with the name and status of its page, and AUDIENCE_TIMES."""

    pk: int
    page_id: str
    audience_id: str
    body: str
    live_status: str
    last_seen_at: datetime
    updated_at: datetime | None
    page_name: str | None
    page_status: str | None
    live_since: datetime | None
    is_live_since_seen: bool | None
    seen_in_flight_at: datetime | None


def find_audiences(filters: AudienceFilters) -> QuerySet[AudienceRecord]:
    return _matching(*filters.arguments)


def list_audiences(
    filters: AudienceFilters, *, sort: str, start: int, size: int, total: int, recorded: int
) -> list[ListedColumns]:
    """Return a slice of the audiences that `find_audiences` returns; one query.

    `sort` is one of AUDIENCE_SORTS, or else the default applies; `total` are the matches among
    `recorded` audiences.
    """
    # Many matches are found soon in the order of the list; a few are found first, then sorted.
    are_many = total * total >= (start + size) * recorded
    return _ROWS.rows(
        *filters.arguments,
        are_many=are_many or filters == AudienceFilters(),
        sort=sort,
        window=(start, start + size),
    )


def audiences_by_key(keys: Sequence[int]) -> list[ListedColumns]:
    return [*map(ListedColumns._make, _with_page(AudienceRecord.objects.filter(pk__in=keys)))]


def matching_keys(filters: AudienceFilters, *, sort: str, limit: int) -> list[tuple[str, str]]:
    audiences = _ordered(find_audiences(filters), sort)
    return list(audiences.values_list("page_id", "audience_id")[:limit])


def iterate_audiences(filters: AudienceFilters, *, sort: str) -> Iterator[ListedColumns]:
    rows = _with_page(_ordered(find_audiences(filters), sort))
    return map(ListedColumns._make, read_in_steps(rows))


def tally_audiences(filters: AudienceFilters) -> AudienceTally:
    """Count the audiences with these words on these pages by the values of COLUMNS; one query."""
    words, pages, *_ = filters.arguments
    matching = _matching(words, pages, (), (), ()).order_by().values(*COLUMNS)
    rows = matching.annotate(count=Count("*")).values_list(*COLUMNS, "count")
    return AudienceTally({(live, latest, agent): count for live, latest, agent, count in rows})


def page_options(words: str, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Return the id and name of the chosen pages, then of some with these words in the name."""
    options = dict(PageRecord.objects.filter(page_id__in=chosen).values_list("page_id", "name"))
    pages = PageRecord.objects.order_by("name", "pk")
    for word in fold(words).split():
        pages = pages.filter(searched__contains=word)
    options |= dict(pages.values_list("page_id", "name")[:MAX_PAGE_OPTIONS])
    return [*(dict.fromkeys(chosen, "") | options).items()]


def _matching(
    words: Sequence[str], pages: Sequence[str], *chosen: Sequence[str], without_index: bool = False
) -> QuerySet[AudienceRecord]:
    """Return the matching audiences; words are folded, values as stored.

    With `without_index` the filters are expressions that no index serves.
    """
    audiences = AudienceRecord.objects.all()
    for word in words:
        audiences = audiences.filter(searched__contains=word)
    for column, values in zip(("page_id", *COLUMNS), (pages, *chosen), strict=True):
        if not values:
            continue
        value: Combinable = F(column)
        if without_index:
            value = Coalesce(value, Value("", TextField()), output_field=TextField())
        audiences = audiences.alias(**{f"the_{column}": value}).filter(
            **{f"the_{column}__in": values}
        )
    return audiences


def _rows(
    *arguments: Sequence[str], are_many: bool, sort: str, window: tuple[int, int]
) -> "QuerySet[AudienceRecord, Any]":
    # Only keys are sorted, so that the bodies of other rows are not read: see `pages._bodies`.
    audiences = _matching(*arguments, without_index=are_many)
    if not are_many:
        audiences = AudienceRecord.objects.filter(pk__in=audiences.values("pk"))
    keys = _ordered(audiences, sort).values("pk")[slice(*window)]
    return _with_page(_ordered(AudienceRecord.objects.filter(pk__in=keys), sort))


def _with_page(audiences: QuerySet[AudienceRecord]) -> "QuerySet[AudienceRecord, Any]":
    page = PageRecord.objects.filter(page_id=OuterRef("page_id"))
    return audiences.annotate(
        page_name=Subquery(page.values("name")[:1]),
        page_status=Subquery(page.values("status")[:1]),
        **AUDIENCE_TIMES,
    ).values_list(*ListedColumns._fields, named=True)


_ROWS = CompiledQuery(ListedColumns._make, _rows)


def _ordered(audiences: QuerySet[AudienceRecord], sort: str) -> QuerySet[AudienceRecord]:
    if sort.strip("-") == "live":
        audiences = audiences.alias(live_since=AUDIENCE_TIMES["live_since"])
    return audiences.order_by(*AUDIENCE_SORTS.get(sort, AUDIENCE_SORTS[DEFAULT_AUDIENCE_SORT]))
