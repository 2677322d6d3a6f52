"""Any filter and sort of the pages gives the same result as plain Python on the same rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import IN_FLIGHT, LiveStatus
from dashboard.ledger.queries.pages import (
    AUDIENCE_FLAGS,
    NOT_GIVEN,
    PAGE_SORTS,
    count_flags,
    find_pages,
    list_page_bodies,
    tally_pages,
    update_page_flags,
)
from dashboard.texts import fold
from tests.support.queries import queries_of, sqlite_plan

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 11, 1, tzinfo=UTC)
WORDS = ("fleet", "Fleet", "Kühl", "kuhl", "100%", "a_b", "ab", "deck")
STATUSES = ("draft", "published", "")
TYPES = ("inbound", "sales_deck", "")


@dataclass(frozen=True)
class Audience:
    """The fields of an audience that determine its flags."""

    live_status: str
    status: str

    @property
    def flags(self) -> set[str]:
        ways = {
            "live": self.live_status != "not-live",
            "not-live": self.live_status == "not-live",
            "changed": self.live_status == "changed",
            "rolled-back": self.live_status == "rolled-back",
            "in-flight": self.status in IN_FLIGHT,
        }
        return {way for way, is_so in ways.items() if is_so}


@dataclass(frozen=True)
class Page:
    """A page and its audiences."""

    name: str
    title: str
    status: str
    type: str
    count: int
    days: int | None
    audiences: tuple[Audience, ...]

    @property
    def flags(self) -> set[str]:
        return {way for audience in self.audiences for way in audience.flags}


@dataclass(frozen=True)
class Query:
    """A search with filters and a sort."""

    words: str
    statuses: list[str]
    types: list[str]
    flags: list[str]
    sort: str
    start: int

    @property
    def narrowed(self) -> dict[str, Any]:
        filters = {"statuses": self.statuses, "types": self.types, "flags": self.flags}
        return {"words": self.words} | filters


audiences = st.builds(
    Audience, st.sampled_from([*LiveStatus]), st.sampled_from(["draft", "queued", "cancelled", ""])
)
texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
pages = st.builds(
    Page,
    texts,
    texts,
    st.sampled_from(STATUSES),
    st.sampled_from(TYPES),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
    st.lists(audiences, max_size=3).map(tuple),
)
queries = st.builds(
    Query,
    texts,
    st.lists(st.sampled_from([*STATUSES[:2], NOT_GIVEN]), unique=True),
    st.lists(st.sampled_from([*TYPES[:2], NOT_GIVEN]), unique=True),
    st.lists(st.sampled_from([*AUDIENCE_FLAGS]), unique=True),
    st.sampled_from([*PAGE_SORTS]),
    st.integers(0, 2),
)


def create_records(all_pages: list[Page]) -> list[PageRecord]:
    """Record the pages."""
    now = timezone.now()
    seen = {"first_seen_at": now, "last_seen_at": now, "changed_at": now}
    records = PageRecord.objects.bulk_create(
        PageRecord(
            body=f"body {number}",
            page_id=f"id-{number}",
            name=page.name,
            title=page.title,
            status=page.status,
            page_type=page.type,
            searched=fold("\n".join((page.name, page.title, f"id-{number}", page.type))),
            brand_id="brand_1",
            audiences_count=page.count,
            updated_at=None if page.days is None else DAY + timedelta(days=page.days),
            **seen,
        )
        for number, page in enumerate(all_pages)
    )
    AudienceRecord.objects.bulk_create(
        AudienceRecord(
            page_id=f"id-{number}",
            audience_id=f"aud_{place}",
            live_status=audience.live_status,
            latest_status=audience.status,
            body="{}",
            **seen,
        )
        for number, page in enumerate(all_pages)
        for place, audience in enumerate(page.audiences)
    )
    update_page_flags()
    return records


def matches(page: Page, page_id: str, query: Query) -> bool:
    """Return whether a page matches, in plain Python."""
    fields = [fold(field) for field in (page.name, page.title, page_id, page.type)]
    return (
        all(any(fold(word) in field for field in fields) for word in query.words.split())
        and (not query.statuses or (page.status or NOT_GIVEN) in query.statuses)
        and (not query.types or (page.type or NOT_GIVEN) in query.types)
        and (not query.flags or bool(page.flags & {*query.flags}))
    )


def sorted_ids(all_pages: dict[int, Page], matches: list[int], sort: str) -> list[int]:
    """Return primary keys in the order of a sort; rows without a value are always last."""
    column, turned = sort.removeprefix("-"), sort.startswith("-")

    def value(pk: int) -> Any:
        page = all_pages[pk]
        return {
            "name": page.name,
            "type": page.type or None,
            "status": page.status or None,
            "audiences": page.count,
            "updated": page.days,
        }[column]

    with_one = [pk for pk in sorted(matches, reverse=turned) if value(pk) is not None]
    without = [pk for pk in sorted(matches, reverse=turned) if value(pk) is None]
    return sorted(with_one, key=value, reverse=turned) + without


@given(all_pages=st.lists(pages, max_size=6), query=queries)
def test_a_search_of_pages_is_that_of_plain_python(all_pages: list[Page], query: Query) -> None:
    with transaction.atomic():
        records = create_records(all_pages)
        by_pk = {record.pk: page for record, page in zip(records, all_pages, strict=True)}
        expected = [r.pk for r in records if matches(by_pk[r.pk], r.page_id, query)]
        pages = find_pages(**query.narrowed)
        assert [record.pk for record in pages.order_by("pk")] == expected
        ordered = sorted_ids(by_pk, expected, query.sort)
        # With a large total, and with the real one.
        for total in (1_000, len(expected)):
            part = {"sort": query.sort, "start": query.start, "size": 2, "total": total}
            bodies = list_page_bodies(**query.narrowed, **part)
            window = ordered[query.start : query.start + 2]
            assert bodies == [record.body for pk in window for record in records if record.pk == pk]
        flags = [way for pk in expected for way in by_pk[pk].flags]
        assert count_flags(pages) == {way: flags.count(way) for way in AUDIENCE_FLAGS}
        tally = tally_pages(words=query.words, flags=query.flags)
        assert tally.total(query.statuses, query.types) == len(expected)
        chosen = [by_pk[pk].status or NOT_GIVEN for pk in expected]
        by_status = tally.by_status(query.types)
        wanted = query.statuses or by_status
        assert {name: by_status[name] for name in wanted if name in by_status} == Counter(chosen)
        transaction.set_rollback(True)


only_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="only SQLite keeps bodies in its rows"
)


def query_plans(act: Callable[[], object]) -> list[str]:
    """Return SQLite's plan for each query of an act."""
    return [" ".join(sqlite_plan(sql)) for sql in queries_of(act)]


@only_sqlite
@pytest.mark.parametrize(
    "queries",
    [
        {"words": "fleet"},
        {"words": "fleet", "flags": ["live"], "statuses": ["draft", NOT_GIVEN]},
        {"flags": ["live", "changed"], "types": ["inbound"]},
    ],
)
def test_finding_and_counting_read_no_body(queries: dict[str, Any]) -> None:
    counted = {name: value for name, value in queries.items() if name in ("words", "flags")}
    few = {"sort": "", "start": 0, "size": 50, "total": 2}
    (counting,) = query_plans(lambda: tally_pages(**counted))
    (finding,) = query_plans(lambda: list_page_bodies(**queries, **few))
    for plan in (counting, finding):
        assert "USING COVERING INDEX pages_narrowed" in plan


@only_sqlite
@pytest.mark.parametrize("sort", ["", "updated", "name"])
@pytest.mark.parametrize(
    "queries",
    [{"statuses": ["draft"]}, {"words": "fleet", "statuses": ["draft"], "types": ["memo"]}],
)
def test_a_partial_reads_only_the_pages_it_needs(queries: dict[str, Any], sort: str) -> None:
    many = {"sort": sort, "start": 0, "size": 50, "total": 1_000}
    (plan,) = query_plans(lambda: list_page_bodies(**queries, **many))
    sorted_ids = "name" if sort == "name" else "updated"
    assert f"SCAN U0 USING INDEX ledger_page_{sorted_ids}" in plan
