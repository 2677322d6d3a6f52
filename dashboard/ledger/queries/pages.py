"""Pages as last seen: one, or those that match."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, reduce
from operator import or_
from time import time
from typing import Any

from django.db.models import (
    Count,
    F,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
)
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce

from dashboard.ledger.models import ListTotal, PageRecord
from dashboard.ledger.queries.audiences import STANDINGS
from dashboard.ledger.recording import PAGES_LIST
from dashboard.ledger.standings import column_of
from dashboard.statements import Statement

PAGE_SORTS: dict[str, list[str | OrderBy]] = {
    "-updated": [F("updated_at").desc(nulls_last=True), "-pk"],
    "updated": [F("updated_at").asc(nulls_last=True), "pk"],
    "name": ["name", "pk"],
    "-name": ["-name", "-pk"],
    "-audiences": ["-audiences_count", "-pk"],
    "audiences": ["audiences_count", "pk"],
}
DEFAULT_PAGE_SORT = "-updated"
UNINDEXED_SORTS = ("-audiences", "audiences")
FEW_PARTS = 5
"""Pages that match are few where they are fewer than so many times what is read of them."""
_STATUS, _TYPE = F("status"), F("page_type")
_EMPTY = Value("", TextField())
_STATUS_TOLD, _TYPE_TOLD = Coalesce("status", _EMPTY), Coalesce("page_type", _EMPTY)
"""The same, for which no index is looked at."""
TALLY_KEPT_S = 60
"""So long a count may stay behind where two wrote at once. Our choice."""
NOT_GIVEN = "none"
"""The filter value for "the service never said"."""


@dataclass(frozen=True)
class Coverage:
    """How much of a list is known here."""

    known: int
    total: int | None
    """As the service last said; None where the list was never read."""
    as_of: datetime | None

    @property
    def is_full(self) -> bool:
        """Whether everything the service has is known, so that zero results are final."""
        return self.total is not None and self.known >= self.total

    @property
    def missing(self) -> int:
        """How many the service has beyond those known."""
        return max(0, (self.total or 0) - self.known)


@dataclass(frozen=True)
class Tally:
    """How many pages there are of each status and type, both as they are in the ledger."""

    counts: Mapping[tuple[str, str], int]

    def by_status(self, types: Collection[str]) -> dict[str, int]:
        """Return how many pages of these types, or of any, have each status."""
        return self._sums(lambda key: key[0], types=types)

    def by_type(self, statuses: Collection[str]) -> dict[str, int]:
        """Return how many pages of these statuses, or of any, have each type."""
        return self._sums(lambda key: key[1], statuses=statuses)

    def total(self, statuses: Collection[str] = (), types: Collection[str] = ()) -> int:
        """Return how many pages have one of these statuses and types, or any."""
        return sum(self._sums(lambda _: "all", statuses=statuses, types=types).values())

    def _sums(
        self,
        part: Callable[[tuple[str, str]], str],
        *,
        statuses: Collection[str] = (),
        types: Collection[str] = (),
    ) -> dict[str, int]:
        sums: dict[str, int] = {}
        for key, count in self.counts.items():
            if _is_among(key[0], statuses) and _is_among(key[1], types):
                name = part(key) or NOT_GIVEN
                sums[name] = sums.get(name, 0) + count
        return sums


def page_last_known(page_id: str) -> PageRecord | None:
    """Return a page as last seen, or None."""
    return PageRecord.objects.filter(page_id=page_id).first()


def find_pages(
    *,
    words: str = "",
    statuses: Sequence[str] = (),
    types: Sequence[str] = (),
    standings: Sequence[str] = (),
) -> QuerySet[PageRecord]:
    """Return the pages whose name, title, id or type hold every word, narrowed by the filters.

    `standings` are keys of STANDINGS: a page stays that has an audience standing so.
    """
    return _matching(words.split(), _values(statuses), _values(types), standings)


def bodies_of_pages(
    *,
    words: str = "",
    statuses: Sequence[str] = (),
    types: Sequence[str] = (),
    standings: Sequence[str] = (),
    sort: str,
    start: int,
    size: int,
    total: int,
) -> list[str]:
    """Return the bodies of one part of the pages that match, as `find_pages` does; one query.

    `sort` is one of PAGE_SORTS, another name is the default's; `total` is how many match.
    """
    is_narrowed = bool(words or statuses or types or standings)
    has_index = sort not in UNINDEXED_SORTS
    rows = _BODIES.rows(
        words.split(),
        _values(statuses),
        _values(types),
        standings=tuple(standings),
        are_many=not is_narrowed or (has_index and total >= FEW_PARTS * (start + size)),
        sort=sort,
        part=(start, start + size),
    )
    return [row.body for row in rows]


def tally_pages(*, words: str = "", standings: Sequence[str] = ()) -> Tally:
    """Count by status and type the pages that match, as `find_pages` does; one query."""
    if words or standings:
        counted = _FOUND_COUNTED.rows(words.split(), standings=tuple(standings))
    else:
        counted = _ALL_COUNTED.rows()
    return Tally({(row.state, row.kind): row.count for row in counted})


def _matching(
    words: Sequence[str],
    statuses: Sequence[str],
    types: Sequence[str],
    standings: Sequence[str],
    *,
    are_many: bool = False,
) -> QuerySet[PageRecord]:
    """Return the pages that match; statuses and types are as they are in the ledger.

    Where they `are_many` no index finds them by these: the order's own is read instead, which ends
    soon. SQLite would rather look up each that has a status, and put them in order after that.
    """
    state, kind = (_STATUS_TOLD, _TYPE_TOLD) if are_many else (_STATUS, _TYPE)
    found = PageRecord.objects.alias(state=state, kind=kind)
    for word in words:
        found = found.filter(searched__icontains=word)
    if statuses:
        found = found.filter(state__in=statuses)
    if types:
        found = found.filter(kind__in=types)
    if standings:
        found = found.filter(reduce(or_, [Q(**{column_of(one): True}) for one in standings]))
    return found


def _bodies(
    words: Sequence[str],
    statuses: Sequence[str],
    types: Sequence[str],
    *,
    standings: Sequence[str],
    are_many: bool,
    sort: str,
    part: tuple[int, int],
) -> "QuerySet[PageRecord, Any]":
    # Put in order by their keys alone: the bodies of the others are not carried along. Few among
    # many are found first, without a look at any body; many come soon enough, read in order.
    found = _matching(words, statuses, types, standings, are_many=are_many)
    if not are_many:
        found = PageRecord.objects.filter(pk__in=found.values("pk"))
    order = PAGE_SORTS.get(sort, PAGE_SORTS[DEFAULT_PAGE_SORT])
    keys = found.order_by(*order).values("pk")[slice(*part)]
    records = PageRecord.objects.filter(pk__in=keys).order_by(*order)
    return records.values_list("body", named=True)


_BODIES = Statement(_bodies)


def _counted(
    pages: QuerySet[PageRecord], state: Combinable = _STATUS, kind: Combinable = _TYPE
) -> QuerySet[PageRecord, Any]:
    by_kind = pages.order_by().values(state=state, kind=kind).annotate(count=Count("*"))
    return by_kind.values_list("state", "kind", "count", named=True)


def _found_counted(
    words: Sequence[str], *, standings: Sequence[str]
) -> "QuerySet[PageRecord, Any]":
    # Counted as they are found. Grouped by the columns themselves, SQLite would read rows in the
    # order of an index, one here and one there.
    return _counted(_matching(words, (), (), standings), _STATUS_TOLD, _TYPE_TOLD)


_ALL_COUNTED = Statement(lambda: _counted(PageRecord.objects.all()))
_FOUND_COUNTED = Statement(_found_counted)


def count_standings(found: QuerySet[PageRecord]) -> dict[str, int]:
    """Return how many of the pages have an audience standing in each way; one query."""
    columns = {standing: column_of(standing) for standing in STANDINGS}
    counts = {f"pages_{name}": Count("pk", filter=Q(**{name: True})) for name in columns.values()}
    counted = found.aggregate(**counts)
    return {standing: counted[f"pages_{name}"] for standing, name in columns.items()}


def pages_coverage() -> Coverage:
    """Return how many pages are known of how many there are; queries as in `everything_counted`."""
    _, coverage = everything_counted()
    return coverage


def everything_counted() -> tuple[Tally, Coverage]:
    """Return how many pages are known by status and type, and how much of the list that is.

    One query; a second where a page was written down since they were counted here.
    """
    covered = _COVERED.first()
    if covered is None:
        return Tally({}), Coverage(0, _total().values_list("total_count", flat=True).first(), None)
    tally = tally_as_of(covered.last_seen_at, int(time() // TALLY_KEPT_S))
    return tally, Coverage(tally.total(), covered.total, covered.last_seen_at)


@lru_cache(maxsize=1)
def tally_as_of(_last_seen_at: datetime, _period: int) -> Tally:
    """Return how many pages are known by status and type, counted once for these arguments.

    Whoever writes a page down dates it, and none is taken away: the page dated last tells whether
    there is anything new. Of two that write at once the later may be dated the earlier, so it is
    not relied on for longer than a period.
    """
    return tally_pages()


def _covered() -> "QuerySet[PageRecord, Any]":
    """Return when the page seen last was seen, and beside it how many the list has."""
    total = Subquery(_total().values("total_count"))
    seen_last = PageRecord.objects.order_by("-last_seen_at").annotate(total=total)
    return seen_last.values_list("last_seen_at", "total", named=True)[:1]


_COVERED = Statement(_covered)


def page_names(page_ids: list[str]) -> dict[str, str]:
    """Return the names of pages by their ids, for lists that hold only ids."""
    return dict(PageRecord.objects.filter(page_id__in=page_ids).values_list("page_id", "name"))


def brands_seen() -> list[str]:
    """Return the brand ids seen on pages, the most used first."""
    rows = PageRecord.objects.values_list("brand_id").annotate(uses=Count("pk"))
    return [brand for brand, _ in rows.order_by("-uses", "brand_id")[:20]]


def _total() -> QuerySet[ListTotal]:
    return ListTotal.objects.filter(list_name=PAGES_LIST)


def _is_among(value: str, chosen: Collection[str]) -> bool:
    return not chosen or value in _values(chosen)


def _values(chosen: Collection[str]) -> list[str]:
    return ["" if value == NOT_GIVEN else value for value in chosen]
