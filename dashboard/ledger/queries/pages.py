"""Queries of pages as last seen, the flags of their audiences, and how much is known.

The flags are stored with each page: computing them took most of the list's time.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, reduce
from operator import or_
from time import monotonic
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce, Collate, NullIf

from dashboard.compiled_query import compiled
from dashboard.contract.pages import PageStatus
from dashboard.ledger.changes import pages_total
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import IN_FLIGHT, NOTHING_LIVE, LiveStatus
from dashboard.ledger.queries.rows import read_in_steps
from dashboard.texts import fold

_TYPE_GIVEN, _STATUS_GIVEN = NullIf("page_type", Value("")), NullIf("status", Value(""))
"""Null if the service never sent a value: these sort last in both directions."""
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
AUDIENCE_FLAGS: dict[str, Q] = {
    "live": ~Q(live_status__in=NOTHING_LIVE),
    "not-live": Q(live_status=LiveStatus.NOT_LIVE),
    "changed": Q(live_status=LiveStatus.CHANGED),
    "rolled-back": Q(live_status=LiveStatus.ROLLED_BACK),
    "in-flight": Q(latest_status__in=IN_FLIGHT),
}
"""Conditions on an audience, by name: it has a live version, or none; it has unpublished changes;
its latest version was rolled back; its latest version is in flight."""
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
    recorded: int
    total: int | None
    """The service's last total; None if the list was never read."""
    as_of: datetime | None

    @property
    def is_full(self) -> bool:
        """Whether all of the service's pages are known, so that no result means none exists."""
        return self.total is not None and self.recorded >= self.total

    @property
    def is_exact(self) -> bool:
        """Whether the counts agree: if more are known, some are no longer listed."""
        return self.recorded == self.total

    @property
    def missing(self) -> int:
        return max(0, (self.total or 0) - self.recorded)


@dataclass(frozen=True)
class Tally:
    """Page counts by status and type, as stored in the ledger."""

    counts: Mapping[tuple[str, str], int]

    def by_status(self, types: Collection[str]) -> dict[str, int]:
        return self._sums(0, (), types)

    def by_type(self, statuses: Collection[str]) -> dict[str, int]:
        return self._sums(1, statuses, ())

    def total(self, statuses: Collection[str] = (), types: Collection[str] = ()) -> int:
        return sum(self._sums(0, statuses, types).values())

    def _sums(
        self, place: int, statuses: Collection[str], types: Collection[str]
    ) -> dict[str, int]:
        sums: Counter[str] = Counter()
        of_statuses, of_types = stored_values(statuses), stored_values(types)
        for key, count in self.counts.items():
            if (not statuses or key[0] in of_statuses) and (not types or key[1] in of_types):
                sums[key[place] or NOT_GIVEN] += count
        return dict(sums)


def page_last_known(page_id: str) -> PageRecord | None:
    return PageRecord.objects.filter(page_id=page_id).first()


def is_page_archived(page_id: str) -> bool:
    return PageRecord.objects.filter(page_id=page_id, status=PageStatus.ARCHIVED).exists()


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
    return _matching(fold(words).split(), stored_values(statuses), stored_values(types), flags)


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
    return _bodies.rows(
        fold(words).split(),
        stored_values(statuses),
        stored_values(types),
        flags=tuple(flags),
        are_many=not is_narrowed or (has_index and total >= FEW_FACTOR * (start + size)),
        sort=sort,
        window=(start, start + size),
    )


def iterate_page_bodies(
    pages: QuerySet[PageRecord], *, sort: str
) -> Iterator[tuple[str, datetime]]:
    """Yield body and `last_seen_at` of every page.

    `sort` is one of PAGE_SORTS, or else the default applies.
    """
    ordered = pages.order_by(*PAGE_SORTS.get(sort, PAGE_SORTS[DEFAULT_PAGE_SORT]))
    for row in read_in_steps(ordered.values_list("pk", "body", "last_seen_at", named=True)):
        yield row.body, row.last_seen_at


def tally_pages(*, words: str = "", flags: Sequence[str] = ()) -> Tally:
    """Count the pages that `find_pages` returns by status and type; one query."""
    # Filtered pages are grouped by expressions: with plain columns, SQLite would read rows at
    # random, in index order.
    are_narrowed = bool(words or flags)
    pages = _matching(fold(words).split(), (), (), flags, without_index=are_narrowed).order_by()
    counted = pages.values(state=F("state"), kind=F("kind")).annotate(count=Count("*"))
    rows = counted.values_list("state", "kind", "count")
    return Tally({(state, kind): count for state, kind, count in rows})


def _matching(
    words: Sequence[str],
    statuses: Sequence[str],
    types: Sequence[str],
    flags: Sequence[str],
    *,
    without_index: bool = False,
) -> QuerySet[PageRecord]:
    """Return the matching pages; words are folded, statuses and types as stored.

    Each has its status and type as the aliases `state` and `kind`. With `without_index`, these are
    expressions that no index serves.
    """
    state: Combinable = F("status")
    kind: Combinable = F("page_type")
    if without_index:
        empty = Value("", TextField())
        state, kind = Coalesce(state, empty), Coalesce(kind, empty)
    pages = PageRecord.objects.alias(state=state, kind=kind)
    for word in words:
        pages = pages.filter(searched__contains=word)
    if statuses:
        pages = pages.filter(state__in=statuses)
    if types:
        pages = pages.filter(kind__in=types)
    if flags:
        pages = pages.filter(reduce(or_, [Q(**{flag_column(flag): True}) for flag in flags]))
    return pages


@compiled(lambda row: str(row[0]))
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
    # Only keys are sorted: the bodies of other rows are not read. A covering index finds a few
    # matches first. Many are found soon enough by the index of the list's order: SQLite would
    # otherwise find all rows by status and then sort them.
    pages = _matching(words, statuses, types, flags, without_index=are_many)
    if not are_many:
        pages = PageRecord.objects.filter(pk__in=pages.values("pk"))
    order = PAGE_SORTS.get(sort, PAGE_SORTS[DEFAULT_PAGE_SORT])
    keys = pages.order_by(*order).values("pk")[slice(*window)]
    records = PageRecord.objects.filter(pk__in=keys).order_by(*order)
    return records.values_list("body")


def count_flags(pages: QuerySet[PageRecord]) -> dict[str, int]:
    columns = {flag: flag_column(flag) for flag in AUDIENCE_FLAGS}
    counts = {f"pages_{name}": Count("pk", filter=Q(**{name: True})) for name in columns.values()}
    counted = pages.aggregate(**counts)
    return {flag: counted[f"pages_{name}"] for flag, name in columns.items()}


def pages_coverage() -> Coverage:
    return count_all_pages()[1]


def count_all_pages() -> tuple[Tally, Coverage]:
    """Return the counts of all known pages by status and type, and the coverage of the list.

    One query; a second if a page was recorded since the counts were cached.
    """
    latest = _latest.first()
    if latest is None:
        return Tally({}), Coverage(0, pages_total().first(), None)
    last_seen_at, total = latest
    counted_at, tally = tally_as_of(last_seen_at)
    if monotonic() - counted_at > TALLY_CACHE_S:
        tally_as_of.cache_clear()
        _, tally = tally_as_of(last_seen_at)
    return tally, Coverage(tally.total(), total, last_seen_at)


@compiled(tuple)
def _latest() -> "QuerySet[PageRecord, Any]":
    pages = PageRecord.objects.order_by("-last_seen_at").annotate(total=Subquery(pages_total()))
    return pages.values_list("last_seen_at", "total")[:1]


@lru_cache(maxsize=1)
def tally_as_of(_last_seen_at: datetime) -> tuple[float, Tally]:
    """Count the known pages by status and type; cached, with the monotonic time of the count.

    Recording a page updates its `last_seen_at` and none is deleted, so the latest one shows whether
    the counts may have changed. Of two concurrent writes the later may have the earlier time, so
    the caller discards a count after TALLY_CACHE_S.
    """
    return monotonic(), tally_pages()


def page_names(page_ids: list[str]) -> dict[str, str]:
    if not page_ids:
        return {}
    return dict(PageRecord.objects.filter(page_id__in=page_ids).values_list("page_id", "name"))


def list_brands() -> list[str]:
    rows = PageRecord.objects.values_list("brand_id").annotate(uses=Count("pk"))
    return [brand for brand, _ in rows.order_by("-uses", "brand_id")[:20]]


def stored_values(chosen: Collection[str]) -> list[str]:
    """Return the values of a filter as stored: NOT_GIVEN is empty."""
    return ["" if value == NOT_GIVEN else value for value in chosen]


def flag_column(flag: str) -> str:
    """Return the column of PageRecord for one of AUDIENCE_FLAGS: whether any audience has it."""
    return f"any_{flag.replace('-', '_')}"


def _computed_flags() -> dict[str, Exists]:
    audiences = AudienceRecord.objects.filter(page_id=OuterRef("page_id"))
    return {flag_column(name): Exists(audiences.filter(q)) for name, q in AUDIENCE_FLAGS.items()}


@compiled(tuple)
def _changed_flags(page_ids: Sequence[str]) -> "QuerySet[PageRecord, Any]":
    flags = _computed_flags()
    pages = PageRecord.objects.filter(page_id__in=page_ids).exclude(**flags)
    computed = {f"computed_{column}": condition for column, condition in flags.items()}
    return pages.annotate(**computed).values_list("pk", *computed)


def update_flags_of(page_ids: Sequence[str]) -> None:
    """Update the flags of these pages, which the caller has locked.

    Few change. A query that finds them takes a tenth of the time of an update that does.
    """
    for pk, *flags in _changed_flags.rows(page_ids):
        columns = map(flag_column, AUDIENCE_FLAGS)
        PageRecord.objects.filter(pk=pk).update(**dict(zip(columns, flags, strict=True)))


def update_page_flags() -> int:
    """Update the flags of all pages.

    Returns the number of pages whose flags changed; no other is written.
    """
    flags = _computed_flags()
    pages = PageRecord.objects.exclude(**flags)
    with transaction.atomic():
        if connection.features.has_select_for_update:
            # In the order of upserts, so that two transactions never wait for each other.
            locked = pages.select_for_update().order_by(Collate("page_id", "C"))
            pages = pages.filter(pk__in=list(locked.values_list("pk", flat=True)))
        return pages.update(**flags)
