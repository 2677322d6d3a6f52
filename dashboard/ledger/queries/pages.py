"""Queries of pages as last seen."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, reduce
from operator import or_
from time import time
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce, NullIf

from dashboard.compiled_query import CompiledQuery
from dashboard.contract.pages import PageStatus
from dashboard.folding import fold
from dashboard.ledger.changes import pages_total
from dashboard.ledger.models import PageRecord
from dashboard.ledger.page_flags import AUDIENCE_FLAGS, flag_column
from dashboard.ledger.queries.steps import read_in_steps

_TYPE_GIVEN, _STATUS_GIVEN = NullIf("page_type", Value("")), NullIf("status", Value(""))
"""Null if the service never sent one: those sort last in both directions."""
PAGE_SORTS: dict[str, list[str | OrderBy]] = {
    "-updated": [F("updated_at").desc(nulls_last=True), "-pk"],
    "updated": [F("updated_at").asc(nulls_last=True), "pk"],
    "name": ["name", "pk"],
    "-name": ["-name", "-pk"],
    "-audiences": ["-audiences_count", "-pk"],
    "audiences": ["audiences_count", "pk"],
    "type": [_TYPE_GIVEN.asc(nulls_last=True), "pk"],
    "-type": [_TYPE_GIVEN.desc(nulls_last=True), "-pk"],
    "status": [_STATUS_GIVEN.asc(nulls_last=True), "pk"],
    "-status": [_STATUS_GIVEN.desc(nulls_last=True), "-pk"],
}
DEFAULT_PAGE_SORT = "-updated"
UNINDEXED_SORTS = ("-audiences", "audiences", "type", "-type", "status", "-status")
FEW_FACTOR = 5
"""Matches count as few below this many times the rows to read."""
TALLY_CACHE_S = 60
"""How long a count may be stale after two concurrent writes. Source: our choice."""
NOT_GIVEN = "none"
"""The filter value for a missing status or type."""


@dataclass(frozen=True)
class Coverage:
    """How much of the service's list is known."""

    known: int
    total: int | None
    """The service's last total; None if the list was never read."""
    as_of: datetime | None

    @property
    def is_full(self) -> bool:
        """Whether all of the service's pages are known, so that no result means none exists."""
        return self.total is not None and self.known >= self.total

    @property
    def is_exact(self) -> bool:
        """Whether the counts agree: if more are known, some are no longer listed."""
        return self.known == self.total

    @property
    def missing(self) -> int:
        """The number of pages not known yet."""
        return max(0, (self.total or 0) - self.known)


@dataclass(frozen=True)
class Tally:
    """Page counts by status and type, as stored in the ledger."""

    counts: Mapping[tuple[str, str], int]

    def by_status(self, types: Collection[str]) -> dict[str, int]:
        """Count pages of these types, or of any, by status."""
        return self._sums(0, (), types)

    def by_type(self, statuses: Collection[str]) -> dict[str, int]:
        """Count pages of these statuses, or of any, by type."""
        return self._sums(1, statuses, ())

    def total(self, statuses: Collection[str] = (), types: Collection[str] = ()) -> int:
        """Count pages of these statuses and types, or of any."""
        return sum(self._sums(0, statuses, types).values())

    def _sums(
        self, place: int, statuses: Collection[str], types: Collection[str]
    ) -> dict[str, int]:
        sums: Counter[str] = Counter()
        of_statuses, of_types = _values(statuses), _values(types)
        for key, count in self.counts.items():
            if (not statuses or key[0] in of_statuses) and (not types or key[1] in of_types):
                sums[key[place] or NOT_GIVEN] += count
        return dict(sums)


def page_last_known(page_id: str) -> PageRecord | None:
    """Return a page as last seen, or None."""
    return PageRecord.objects.filter(page_id=page_id).first()


def is_page_archived(page_id: str) -> bool:
    """Return whether a page was archived when last seen."""
    row = _PAGE_STATUS.first(page_id)
    return row is not None and row.status == PageStatus.ARCHIVED


_PAGE_STATUS = CompiledQuery(
    lambda page_id: PageRecord.objects.filter(page_id=page_id).values_list("status", named=True)
)


def find_pages(
    *,
    words: str = "",
    statuses: Sequence[str] = (),
    types: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> QuerySet[PageRecord]:
    """Return the pages with every word in name, title, id or type that match the filters.

    Case and accents are ignored. `flags` are keys of AUDIENCE_FLAGS: a page matches if any of its
    audiences has one of them.
    """
    return _matching(fold(words).split(), _values(statuses), _values(types), flags)


def list_page_bodies(
    *,
    words: str = "",
    statuses: Sequence[str] = (),
    types: Sequence[str] = (),
    flags: Sequence[str] = (),
    sort: str,
    start: int,
    size: int,
    total: int,
) -> list[str]:
    """Return a slice of the bodies of the pages that `find_pages` returns; one query.

    `sort` is one of PAGE_SORTS, or else the default applies; `total` is the number of matches.
    """
    is_narrowed = bool(words or statuses or types or flags)
    has_index = sort not in UNINDEXED_SORTS
    rows = _BODIES.rows(
        fold(words).split(),
        _values(statuses),
        _values(types),
        flags=tuple(flags),
        are_many=not is_narrowed or (has_index and total >= FEW_FACTOR * (start + size)),
        sort=sort,
        window=(start, start + size),
    )
    return [row.body for row in rows]


def iterate_page_bodies(
    found: QuerySet[PageRecord], *, sort: str
) -> Iterator[tuple[str, datetime]]:
    """Yield body and `last_seen_at` of every page found.

    `sort` is one of PAGE_SORTS, or else the default applies.
    """
    ordered = found.order_by(*PAGE_SORTS.get(sort, PAGE_SORTS[DEFAULT_PAGE_SORT]))
    for row in read_in_steps(ordered.values_list("pk", "body", "last_seen_at", named=True)):
        yield row.body, row.last_seen_at


def tally_pages(*, words: str = "", flags: Sequence[str] = ()) -> Tally:
    """Count the pages that `find_pages` returns by status and type; one query."""
    rows = _COUNTS.rows(fold(words).split(), flags=tuple(flags))
    return Tally({(row.state, row.kind): row.count for row in rows})


def _matching(
    words: Sequence[str],
    statuses: Sequence[str],
    types: Sequence[str],
    flags: Sequence[str],
    *,
    without_index: bool = False,
) -> QuerySet[PageRecord]:
    """Return the matching pages; words are folded, statuses and types as stored.

    Each has `state` and `kind`, its status and type as aliases: with `without_index` as expressions
    that no index serves.
    """
    state: Combinable = F("status")
    kind: Combinable = F("page_type")
    if without_index:
        empty = Value("", TextField())
        state, kind = Coalesce(state, empty), Coalesce(kind, empty)
    found = PageRecord.objects.alias(state=state, kind=kind)
    for word in words:
        found = found.filter(searched__contains=word)
    if statuses:
        found = found.filter(state__in=statuses)
    if types:
        found = found.filter(kind__in=types)
    if flags:
        found = found.filter(reduce(or_, [Q(**{flag_column(one): True}) for one in flags]))
    return found


def _bodies(
    words: Sequence[str],
    statuses: Sequence[str],
    types: Sequence[str],
    *,
    flags: Sequence[str],
    are_many: bool,
    sort: str,
    window: tuple[int, int],
) -> "QuerySet[PageRecord, Any]":
    # Only keys are sorted: the bodies of other rows are not read. A few matches are found first by
    # a covering index. Many are found soon enough in the order of the list, by its index: SQLite
    # would otherwise find all rows by status and then sort them.
    found = _matching(words, statuses, types, flags, without_index=are_many)
    if not are_many:
        found = PageRecord.objects.filter(pk__in=found.values("pk"))
    order = PAGE_SORTS.get(sort, PAGE_SORTS[DEFAULT_PAGE_SORT])
    keys = found.order_by(*order).values("pk")[slice(*window)]
    records = PageRecord.objects.filter(pk__in=keys).order_by(*order)
    return records.values_list("body", named=True)


_BODIES = CompiledQuery(_bodies)


def _counts(words: Sequence[str], *, flags: Sequence[str]) -> "QuerySet[PageRecord, Any]":
    # Narrowed ones are grouped by expressions: by plain columns, SQLite would read rows at random,
    # in index order.
    are_narrowed = bool(words or flags)
    pages = _matching(words, (), (), flags, without_index=are_narrowed).order_by()
    counted = pages.values(state=F("state"), kind=F("kind")).annotate(count=Count("*"))
    return counted.values_list("state", "kind", "count", named=True)


_COUNTS = CompiledQuery(_counts)


def count_flags(found: QuerySet[PageRecord]) -> dict[str, int]:
    """Count the pages with each audience flag; one query."""
    columns = {flag: flag_column(flag) for flag in AUDIENCE_FLAGS}
    counts = {f"pages_{name}": Count("pk", filter=Q(**{name: True})) for name in columns.values()}
    counted = found.aggregate(**counts)
    return {flag: counted[f"pages_{name}"] for flag, name in columns.items()}


def pages_coverage() -> Coverage:
    """Return how many of the service's pages are known; queries as in `count_all_pages`."""
    return count_all_pages()[1]


def count_all_pages() -> tuple[Tally, Coverage]:
    """Return the counts of all known pages by status and type, and the coverage of the list.

    One query; a second if a page was recorded since the counts were cached.
    """
    latest = _LATEST_SEEN.first()
    if latest is None:
        return Tally({}), Coverage(0, pages_total().first(), None)
    tally = tally_as_of(latest.last_seen_at, int(time() // TALLY_CACHE_S))
    return tally, Coverage(tally.total(), latest.total, latest.last_seen_at)


@lru_cache(maxsize=1)
def tally_as_of(_last_seen_at: datetime, _period: int) -> Tally:
    """Count the known pages by status and type, cached by these arguments.

    Recording a page updates its `last_seen_at` and none is deleted, so the latest one shows whether
    the counts may have changed. Of two concurrent writes the later may have the earlier time, so
    the cache also expires after a period.
    """
    return tally_pages()


_LATEST_SEEN = CompiledQuery(
    lambda: (
        PageRecord.objects.order_by("-last_seen_at")
        .annotate(total=Subquery(pages_total()))
        .values_list("last_seen_at", "total", named=True)[:1]
    )
)
"""The latest `last_seen_at` of a page, and the list's total."""


def page_names(page_ids: list[str]) -> dict[str, str]:
    """Return the names of pages by id."""
    if not page_ids:
        return {}
    return dict(PageRecord.objects.filter(page_id__in=page_ids).values_list("page_id", "name"))


def list_brands() -> list[str]:
    """Return the brand ids of pages, the most used first."""
    rows = PageRecord.objects.values_list("brand_id").annotate(uses=Count("pk"))
    return [brand for brand, _ in rows.order_by("-uses", "brand_id")[:20]]


def _values(chosen: Collection[str]) -> list[str]:
    return ["" if value == NOT_GIVEN else value for value in chosen]
