"""Queries of all audiences as last seen: filtered, counted and sorted; and how many are known."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce

from dashboard.compiled_query import ROW_COUNT, compiled
from dashboard.ledger.changes import audiences_unread, pages_total
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import LIVE, NOTHING_LIVE, LiveStatus
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
_ASSIGNEE_NAME = Case(When(assignee__is_active=True, then=F("assignee__username")))
"""Username of the assignee; None if there is none, or if the account is turned off."""
COLUMNS = ("live_status", "latest_status", "new_page_agent")
"""The columns that audiences are counted by, in the order of an AudienceTally's keys."""
MAX_PAGE_OPTIONS = 12
"""Pages offered at once to filter by."""


@dataclass(frozen=True)
class AudienceFilters:
    """Filters of a list of audiences; an empty filter lets all pass."""

    words: str = ""
    """Words to search; each must be in the name or id. Case and accents are ignored."""
    pages: tuple[str, ...] = ()
    """Ids of pages."""
    live: tuple[str, ...] = ()
    """Values of LiveStatus, or LIVE for all except NOTHING_LIVE. REJECTED includes first
    versions."""
    statuses: tuple[str, ...] = ()
    """Statuses of the latest version, or NOT_GIVEN if there is none."""
    agents: tuple[str, ...] = ()
    """`yes`, `no` or NOT_GIVEN."""
    assignees: tuple[str, ...] = ()
    """Usernames; empty for audiences without an assignee."""

    @property
    def arguments(self) -> tuple[list[str], ...]:
        """The filters as stored: words, pages, assignees, and one list for each of COLUMNS."""
        words = fold(self.words).split()
        return words, list(self.pages), list(self.assignees), *self.chosen

    @property
    def chosen(self) -> tuple[list[str], ...]:
        live = [*self.live]
        if LIVE in live:
            live += [status for status in LiveStatus if status not in NOTHING_LIVE]
        if LiveStatus.REJECTED in self.live:
            live.append(LiveStatus.REJECTED_FIRST)
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

        `with_own` applies the column's own filter, too.
        """
        place, sums = COLUMNS.index(column), Counter[str]()
        chosen = [
            (at, values)
            for at, values in enumerate(filters.chosen)
            if values and (with_own or at != place)
        ]
        for key, count in self.counts.items():
            if all(key[at] in values for at, values in chosen):
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
    assignee_name: str | None
    """Username of the assignee."""
    live_since: datetime | None
    is_live_since_seen: bool | None
    seen_in_flight_at: datetime | None


def find_audiences(filters: AudienceFilters) -> QuerySet[AudienceRecord]:
    return _matching(*filters.arguments)


def list_audiences(
    filters: AudienceFilters, *, sort: str, start: int, size: int, total: int, recorded: int
) -> list[ListedColumns]:
    """Return a slice of the audiences that `find_audiences` returns; one query.

    `sort` is one of AUDIENCE_SORTS, or else the default applies; `total` is the number of matches
    among `recorded` audiences.
    """
    # Many matches are found soon in the order of the list. If there are few, find them first, then
    # sort.
    are_many = total * total >= (start + size) * recorded
    return _listed.rows(
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
    """Count audiences by the values of COLUMNS; one query.

    Only the filters for words, pages and assignees apply.
    """
    words, pages, assignees, *_ = filters.arguments
    rows = _counts.rows(words, pages, assignees)
    return AudienceTally({(live, latest, agent): count for live, latest, agent, count in rows})


@compiled(tuple)
def _counts(
    words: Sequence[str], pages: Sequence[str], assignees: Sequence[str]
) -> "QuerySet[AudienceRecord, Any]":
    matching = _matching(words, pages, assignees, (), (), ()).order_by()
    return matching.values_list(*COLUMNS).annotate(count=Count("*"))


def page_options(words: str, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Return the id and name of the chosen pages, then of some with these words in the name."""
    options = dict(PageRecord.objects.filter(page_id__in=chosen).values_list("page_id", "name"))
    pages = PageRecord.objects.order_by("name", "pk")
    for word in fold(words).split():
        pages = pages.filter(searched__contains=word)
    options |= dict(pages.values_list("page_id", "name")[:MAX_PAGE_OPTIONS])
    return [*(dict.fromkeys(chosen, "") | options).items()]


def _matching(
    words: Sequence[str],
    pages: Sequence[str],
    assignees: Sequence[str],
    *chosen: Sequence[str],
    without_index: bool = False,
) -> QuerySet[AudienceRecord]:
    """Return the matching audiences; words are folded, values as stored.

    With `without_index`, the filters are expressions that no index serves.
    """
    audiences = AudienceRecord.objects.all()
    for word in words:
        audiences = audiences.filter(searched__contains=word)
    if assignees:
        name = Coalesce(_ASSIGNEE_NAME, Value("", TextField()), output_field=TextField())
        audiences = audiences.alias(the_assignee=name).filter(the_assignee__in=assignees)
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


@compiled(ListedColumns._make)
def _listed(
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
        assignee_name=_ASSIGNEE_NAME,
        **AUDIENCE_TIMES,
    ).values_list(*ListedColumns._fields, named=True)


def _ordered(audiences: QuerySet[AudienceRecord], sort: str) -> QuerySet[AudienceRecord]:
    if sort.strip("-") == "live":
        audiences = audiences.alias(live_since=AUDIENCE_TIMES["live_since"])
    return audiences.order_by(*AUDIENCE_SORTS.get(sort, AUDIENCE_SORTS[DEFAULT_AUDIENCE_SORT]))


@dataclass(frozen=True)
class AudienceCoverage:
    pages: int = 0
    """Number of known pages."""
    pages_total: int | None = None
    """The service's own number of pages; None if its list was never read."""
    unread: int = 0
    """Number of known pages whose audiences weren't read since their number last changed."""
    as_of: datetime | None = None
    """When an audience was last seen."""

    @property
    def pages_read(self) -> int:
        """The number of pages whose audiences were read, or that have none."""
        return self.pages - self.unread

    @property
    def pages_in_all(self) -> int:
        return max(self.pages, self.pages_total or 0)

    @property
    def is_full(self) -> bool:
        """Whether all audiences were read, so that no result means none exists."""
        return self.has_all_pages and not self.unread

    @property
    def has_all_pages(self) -> bool:
        return self.pages_total is not None and self.pages >= self.pages_total


def audience_coverage() -> AudienceCoverage:
    return _coverage.first() or AudienceCoverage()


@compiled(lambda row: AudienceCoverage(*row))
def _coverage() -> "QuerySet[PageRecord, Any]":
    every = PageRecord.objects.order_by()
    latest = AudienceRecord.objects.order_by("-last_seen_at").values("last_seen_at")[:1]
    columns = {
        "pages": Subquery(every.values(count=ROW_COUNT), output_field=IntegerField()),
        "pages_total": Subquery(pages_total()),
        "unread": Subquery(
            every.filter(audiences_unread()).values(count=ROW_COUNT), output_field=IntegerField()
        ),
        "as_of": Subquery(latest),
    }
    return every.annotate(**columns).values_list(*columns)[:1]


def unread_pages(*, after: int, limit: int) -> list[Any]:
    pages = PageRecord.objects.filter(audiences_unread(), pk__gt=after).order_by("pk")
    return list(pages.values_list("pk", "page_id", "name", named=True)[:limit])
