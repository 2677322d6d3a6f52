"""Queries of all audiences as last seen: filtered, counted, sorted, and how many are known."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce

from dashboard.compiled_query import ROW_COUNT, CompiledQuery
from dashboard.folding import fold
from dashboard.ledger.changes import audiences_unread, pages_total
from dashboard.ledger.models import AudienceRecord, PageRecord, VersionRecord
from dashboard.ledger.models.audiences import IN_FLIGHT
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.ledger.queries.steps import read_in_steps

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
    """Values of LiveStatus."""
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
        """The chosen values as stored, one list for each of COLUMNS."""
        return _stored(self.live), _stored(self.statuses), _stored(self.agents)


@dataclass(frozen=True)
class AudienceTally:
    """The number of audiences for each combination of the values of COLUMNS, as stored."""

    counts: Mapping[tuple[str, str, str], int]

    def total(self, filters: AudienceFilters) -> int:
        """Count the audiences with the chosen values."""
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


@dataclass(frozen=True)
class AudienceCoverage:
    """How much of the service's audiences is known."""

    pages: int = 0
    """Pages known."""
    pages_total: int | None = None
    """The service's own number of pages; None if its list was never read."""
    unread: int = 0
    """Known pages whose audiences were not read, or whose number has changed since."""
    as_of: datetime | None = None
    """When an audience was last seen."""

    @property
    def pages_read(self) -> int:
        """The number of pages whose audiences were read, or that have none."""
        return self.pages - self.unread

    @property
    def pages_in_all(self) -> int:
        """The number of pages, as far as is known."""
        return max(self.pages, self.pages_total or 0)

    @property
    def is_full(self) -> bool:
        """Whether all audiences were read, so that no result means none exists."""
        return self.has_all_pages and not self.unread

    @property
    def has_all_pages(self) -> bool:
        """Whether all of the service's pages are known."""
        return self.pages_total is not None and self.pages >= self.pages_total


def find_audiences(filters: AudienceFilters) -> QuerySet[AudienceRecord]:
    """Return the matching audiences."""
    return _matching(*filters.arguments)


def list_audiences(
    filters: AudienceFilters, *, sort: str, start: int, size: int, total: int, known: int
) -> list[Any]:
    """Return a slice of the audiences that `find_audiences` returns; one query.

    Each has pk, page_id, audience_id, body, two dates, the name and status of its page, and
    `seen_in_flight_at`: when any of its versions was last seen in flight. `sort` is one of
    AUDIENCE_SORTS, or else the default applies; `total` are the matches among `known` audiences.
    """
    # Many matches are found soon in the order of the list; a few are found first, then sorted.
    are_many = total * total >= (start + size) * known
    return _ROWS.rows(
        *filters.arguments,
        are_many=are_many or filters == AudienceFilters(),
        sort=sort,
        window=(start, start + size),
    )


def audiences_by_key(keys: Sequence[int]) -> list[Any]:
    """Return audiences by their primary keys, each as in `list_audiences`."""
    return list(_with_page(AudienceRecord.objects.filter(pk__in=keys)))


def matching_keys(filters: AudienceFilters, *, sort: str, limit: int) -> list[tuple[str, str]]:
    """Return the page's id and the audience's of the first `limit` matches."""
    found = find_audiences(filters).order_by(*_order(sort))
    return list(found.values_list("page_id", "audience_id")[:limit])


def iterate_audiences(filters: AudienceFilters, *, sort: str) -> Iterator[Any]:
    """Yield every matching audience, each as in `list_audiences`."""
    return read_in_steps(_with_page(find_audiences(filters).order_by(*_order(sort))))


def tally_audiences(filters: AudienceFilters) -> AudienceTally:
    """Count the audiences with these words on these pages by the values of COLUMNS; one query."""
    words, pages, *_ = filters.arguments
    rows = _COUNTS.rows(words, pages)
    return AudienceTally(
        {(row.live_status, row.latest_status, row.new_page_agent): row.count for row in rows}
    )


def audience_coverage() -> AudienceCoverage:
    """Return how much of the service's audiences is known; one query."""
    row = _COVERAGE.first()
    if row is None:
        return AudienceCoverage()
    return AudienceCoverage(row.pages, row.pages_total, row.unread, row.as_of)


def unread_pages(*, after: int, limit: int) -> list[Any]:
    """Return the pk, page_id and name of pages whose audiences are to be read, by pk."""
    found = PageRecord.objects.filter(audiences_unread(), pk__gt=after).order_by("pk")
    return list(found.values_list("pk", "page_id", "name", named=True)[:limit])


def page_options(words: str, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Return the id and name of the chosen pages, then of some with these words in the name."""
    options = dict(PageRecord.objects.filter(page_id__in=chosen).values_list("page_id", "name"))
    found = PageRecord.objects.order_by("name", "pk")
    for word in fold(words).split():
        found = found.filter(searched__contains=word)
    options |= dict(found.values_list("page_id", "name")[:MAX_PAGE_OPTIONS])
    return [*(dict.fromkeys(chosen, "") | options).items()]


def _matching(
    words: Sequence[str],
    pages: Sequence[str],
    *chosen: Sequence[str],
    without_index: bool = False,
) -> QuerySet[AudienceRecord]:
    """Return the matching audiences; words are folded, values as stored.

    With `without_index` the filters are expressions that no index serves.
    """
    found = AudienceRecord.objects.all()
    for word in words:
        found = found.filter(searched__contains=word)
    for column, values in zip(("page_id", *COLUMNS), (pages, *chosen), strict=True):
        if not values:
            continue
        value: Combinable = F(column)
        if without_index:
            value = Coalesce(value, Value("", TextField()), output_field=TextField())
        found = found.alias(**{f"the_{column}": value}).filter(**{f"the_{column}__in": values})
    return found


def _rows(
    *arguments: Sequence[str], are_many: bool, sort: str, window: tuple[int, int]
) -> "QuerySet[AudienceRecord, Any]":
    # Only keys are sorted, so that the bodies of other rows are not read: see `pages._bodies`.
    found = _matching(*arguments, without_index=are_many)
    if not are_many:
        found = AudienceRecord.objects.filter(pk__in=found.values("pk"))
    keys = found.order_by(*_order(sort)).values("pk")[slice(*window)]
    return _with_page(AudienceRecord.objects.filter(pk__in=keys).order_by(*_order(sort)))


def _with_page(found: QuerySet[AudienceRecord]) -> "QuerySet[AudienceRecord, Any]":
    page = PageRecord.objects.filter(page_id=OuterRef("page_id"))
    in_flight = VersionRecord.objects.filter(
        page_id=OuterRef("page_id"), audience_id=OuterRef("audience_id"), status__in=IN_FLIGHT
    )
    columns = ("pk", "page_id", "audience_id", "body", "last_seen_at", "updated_at")
    return found.annotate(
        page_name=Subquery(page.values("name")[:1]),
        page_status=Subquery(page.values("status")[:1]),
        seen_in_flight_at=Subquery(in_flight.order_by("-last_seen_at").values("last_seen_at")[:1]),
    ).values_list(*columns, "page_name", "page_status", "seen_in_flight_at", named=True)


_ROWS = CompiledQuery(_rows)


def _counts(words: Sequence[str], pages: Sequence[str]) -> "QuerySet[AudienceRecord, Any]":
    found = _matching(words, pages, (), (), ()).order_by().values(*COLUMNS)
    counted: QuerySet[AudienceRecord, Any] = found.annotate(count=Count("*")).values_list(
        *COLUMNS, "count", named=True
    )
    return counted


_COUNTS = CompiledQuery(_counts)


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
    found: QuerySet[PageRecord, Any] = every.annotate(**columns).values_list(*columns, named=True)
    return found[:1]


_COVERAGE = CompiledQuery(_coverage)


def _order(sort: str) -> list[str | OrderBy]:
    return AUDIENCE_SORTS.get(sort, AUDIENCE_SORTS[DEFAULT_AUDIENCE_SORT])


def _stored(chosen: Collection[str]) -> list[str]:
    return ["" if value == NOT_GIVEN else value for value in chosen]
