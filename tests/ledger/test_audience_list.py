"""Any filter and sort of the audiences gives the same result as plain Python on the same rows."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import LIVE as LIVE_FILTER
from dashboard.ledger.models.objects import LiveStatus, audience_updated_at, live_status
from dashboard.ledger.queries.audience_list import (
    AUDIENCE_SORTS,
    AudienceFilters,
    audience_coverage,
    iterate_audiences,
    list_audiences,
    matching_keys,
    page_options,
    tally_audiences,
    unread_pages,
)
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.ledger.recording import record_version
from dashboard.texts import fold
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages, seed_publication

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 11, 1, tzinfo=UTC)
WORDS = ("acme", "Acme", "Kühl", "kuhl", "100%", "a_b", "ab")
PAGES = ("page_1", "page_2")
STATUSES = ("draft", "queued", "cancelled", "")
AGENTS = ("yes", "no", "")


@dataclass(frozen=True)
class Row:
    """The columns of an audience that the list depends on."""

    name: str
    page: str
    live: str
    status: str
    agent: str
    updated: int | None
    live_since: int | None


@dataclass(frozen=True)
class Query:
    """Filters, an order and a range of rows."""

    words: str
    pages: list[str]
    live: list[str]
    statuses: list[str]
    agents: list[str]
    sort: str
    start: int

    @property
    def filters(self) -> AudienceFilters:
        return AudienceFilters(
            words=self.words,
            pages=tuple(self.pages),
            live=tuple(self.live),
            statuses=tuple(status or NOT_GIVEN for status in self.statuses),
            agents=tuple(agent or NOT_GIVEN for agent in self.agents),
        )

    def matches(self, row: Row) -> bool:
        words = fold(self.words).split()
        chosen = (self.pages, self.live, self.statuses, self.agents)
        live = {row.live, LIVE_FILTER} - ({LIVE_FILTER} if row.live == "not-live" else set())
        values = ({row.page}, live, {row.status}, {row.agent})
        return all(word in fold(row.name) for word in words) and all(
            not some or value & {*some} for some, value in zip(chosen, values, strict=True)
        )


texts = st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join)
rows = st.builds(
    Row,
    texts,
    st.sampled_from(PAGES),
    st.sampled_from([*LiveStatus]),
    st.sampled_from(STATUSES),
    st.sampled_from(AGENTS),
    st.none() | st.integers(0, 3),
    st.none() | st.integers(0, 3),
)
queries = st.builds(
    Query,
    texts,
    *(
        st.lists(st.sampled_from(values), max_size=2, unique=True)
        for values in (PAGES, [LIVE_FILTER, *LiveStatus], STATUSES, AGENTS)
    ),
    st.sampled_from(["", *AUDIENCE_SORTS]),
    st.integers(0, 3),
)


def save(row: Row, number: int) -> AudienceRecord:
    def day(days: int | None) -> datetime | None:
        return None if days is None else DAY + timedelta(days=days)

    now = timezone.now()
    if live_since := day(row.live_since):
        seed_publication(page_id=row.page, audience_id=f"id-{number}", started_at=live_since)
    return AudienceRecord.objects.create(
        page_id=row.page,
        audience_id=f"id-{number}",
        body="{}",
        name=row.name,
        searched=fold(row.name),
        live_status=row.live,
        latest_status=row.status,
        new_page_agent=row.agent,
        updated_at=day(row.updated),
        first_seen_at=now,
        last_seen_at=now,
        changed_at=now,
    )


def in_order(matches: dict[AudienceRecord, Row], sort: str) -> list[int]:
    """Return the keys in the order of the list; rows without a date come last."""
    sort = sort or "-updated"
    attribute = {"live": "live_since"}.get(sort.strip("-"), sort.strip("-"))
    is_down = sort.startswith("-")
    values = {record.pk: getattr(row, attribute) for record, row in matches.items()}
    dated = [pk for pk, value in values.items() if value is not None]
    dated.sort(key=lambda pk: (values[pk], pk), reverse=is_down)
    undated = [pk for pk, value in values.items() if value is None]
    return dated + sorted(undated, reverse=is_down)


@given(st.lists(rows, max_size=8), queries)
def test_a_list_has_the_matches_in_order(all_rows: list[Row], query: Query) -> None:
    with transaction.atomic():
        records = {save(row, number): row for number, row in enumerate(all_rows)}
        matches = {record: row for record, row in records.items() if query.matches(row)}
        expected = in_order(matches, query.sort)
        # With few and many recorded rows, to take both query strategies.
        for recorded in (len(all_rows), 1_000_000):
            listed = list_audiences(
                query.filters,
                sort=query.sort,
                start=query.start,
                size=2,
                total=len(matches),
                recorded=recorded,
            )
            assert [row.pk for row in listed] == expected[query.start : query.start + 2]
        assert [row.pk for row in iterate_audiences(query.filters, sort=query.sort)] == expected
        assert len(matching_keys(query.filters, sort=query.sort, limit=3)) == min(len(matches), 3)
        transaction.set_rollback(True)


@given(st.lists(rows, max_size=8), queries)
def test_a_tally_counts_what_each_choice_would_leave(all_rows: list[Row], query: Query) -> None:
    with transaction.atomic():
        for number, row in enumerate(all_rows):
            save(row, number)
        tally = tally_audiences(query.filters)
        assert tally.total(query.filters) == sum(map(query.matches, all_rows))
        without_live = Query(**{**query.__dict__, "live": []})
        expected = Counter(row.live.value for row in all_rows if without_live.matches(row))  # type: ignore[attr-defined]
        assert tally.by("live_status", query.filters) == dict(expected)
        transaction.set_rollback(True)


LIVE = wire.live_version()


@pytest.mark.parametrize(
    ("latest", "live", "status"),
    [
        (wire.version(), None, LiveStatus.NOT_LIVE),
        (wire.version(status="cancelled"), None, LiveStatus.NOT_LIVE),
        (None, None, LiveStatus.NOT_LIVE),
        (LIVE, LIVE, LiveStatus.UP_TO_DATE),
        (None, LIVE, LiveStatus.UP_TO_DATE),
        (wire.version(), LIVE, LiveStatus.CHANGED),
        (wire.version(status="unheard-of"), LIVE, LiveStatus.CHANGED),
        (wire.version(status="cancelled"), LIVE, LiveStatus.CANCELED),
    ],
)
def test_the_live_status_follows_from_both_versions(
    latest: Any, live: Any, status: LiveStatus
) -> None:
    item = wire.audience(latestVersion=latest, publishedVersion=live)
    assert live_status(Audience.model_validate(item)) == status
    seed_audiences(item)
    assert AudienceRecord.objects.get().live_status == status


def test_a_canceled_version_changes_the_live_status() -> None:
    seed_audiences(wire.audience())
    canceled = wire.version(status="cancelled", cancelledAt="2026-03-05T09:00:00Z")
    record_version("page_1", AudienceVersion.model_validate(canceled))
    record = AudienceRecord.objects.get()
    assert record.live_status == LiveStatus.CANCELED
    assert record.updated_at == datetime(2026, 3, 5, 9, tzinfo=UTC)


def test_an_audience_is_dated_by_its_latest_date() -> None:
    item = wire.audience(createdAt="unreadable", publishedVersion=None)
    assert audience_updated_at(Audience.model_validate(item)) == datetime(
        2026, 3, 1, 9, 5, tzinfo=UTC
    )
    assert audience_updated_at(Audience()) is None


def test_a_page_is_unread_until_its_audiences_are() -> None:
    seed_pages(wire.page(), wire.page(pageId="page_2", audiencesCount=0), total=2)
    assert [page.page_id for page in unread_pages(after=0, limit=9)] == ["page_1"]
    assert not audience_coverage().is_full
    seed_audiences(wire.audience())
    assert unread_pages(after=0, limit=9) == []
    assert audience_coverage().is_full
    seed_pages(wire.page(audiencesCount=3), total=2)
    assert audience_coverage().unread == 1
    seed_audiences(wire.audience())
    assert audience_coverage().unread == 0


def test_a_miscounted_page_is_read_once() -> None:
    """The API can't return the rest, so a second read would not help."""
    seed_pages(wire.page(audiencesCount=120), total=1)
    seed_audiences()
    assert audience_coverage().is_full
    seed_pages(wire.page(audiencesCount=120, title="New"), total=1)
    assert audience_coverage().is_full
    assert PageRecord.objects.get().audiences_count_read == 120


def test_the_chosen_pages_are_offered_first() -> None:
    seed_pages(*(wire.page(pageId=f"page_{n}", name=f"Page {n}") for n in range(30)))
    offered = page_options("", ["page_29", "page_gone"])
    assert offered[:3] == [("page_29", "Page 29"), ("page_gone", ""), ("page_0", "Page 0")]
    assert page_options("page 17", []) == [("page_17", "Page 17")]
