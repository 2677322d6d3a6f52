"""Reads recorded at the same moment: the response to the later request wins."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.db import connection, transaction
from django.utils import timezone

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import (
    AudienceRecord,
    ListTotal,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.queries.pages import update_page_flags
from dashboard.ledger.recording import record_audiences, record_page, record_pages, record_version
from dashboard.ledger.subscriptions import record_subscription
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish_review import review_publish
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.interleaving import (
    PATIENCE_S,
    before_commit,
    before_statement,
    before_transaction,
    begun,
    held_at,
    is_anyone_waiting,
)

NOW = timezone.now()
FIRST, OLDER, NEWER = (NOW - timedelta(minutes=minutes) for minutes in (5, 4, 3))
LIVE_2 = wire.version(status="published", publishedAt="2026-11-25T10:00:02Z")

Record = Callable[[datetime], None]


def read_audience(**differs: Any) -> Record:
    audience = Audience.model_validate(wire.audience(**differs))
    return lambda read_at: record_audiences("page_1", [audience], read_at=read_at)


def read_page(**differs: Any) -> Record:
    page = PageItem.model_validate(wire.page(**differs))
    return lambda read_at: record_page(page, read_at=read_at)


def read_total(total: int) -> Record:
    response = ListEnvelope[PageItem].model_validate(wire.envelope(totalCount=total))
    return lambda read_at: record_pages(response, read_at=read_at)


def read_version(**differs: Any) -> Record:
    version = AudienceVersion.model_validate(wire.version(**differs))
    return lambda read_at: record_version("page_1", version, read_at=read_at)


def read_subscription(**differs: Any) -> Record:
    subscription = WebhookSubscription.model_validate(wire.subscription(**differs))

    def record(read_at: datetime) -> None:
        record_subscription(subscription, read_at=read_at)

    return record


def live_number() -> int | None:
    return AudienceRecord.objects.get().live_version_number


WENT_LIVE = read_audience(latestVersion=LIVE_2, publishedVersion=LIVE_2)
COMPARED = before_transaction()
"""The point where the older read is compared with the ledger but not yet written."""


@dataclass(frozen=True)
class Race:
    """Two reads; the older one is held until the newer one is recorded."""

    older: Record
    newer: Record
    state: Callable[[], object]
    expected: object
    first: Record | None = None
    """Recorded before both."""


RACES = {
    "live": Race(
        read_audience(latestVersion=wire.version(status="queued")),
        WENT_LIVE,
        live_number,
        2,
        first=read_audience(),
    ),
    "new": Race(read_audience(), WENT_LIVE, live_number, 2),
    "publish": Race(
        read_version(status="queued"),
        WENT_LIVE,
        lambda: AudienceRecord.objects.get().latest_status,
        "published",
        first=read_audience(),
    ),
    "version": Race(
        read_audience(latestVersion=wire.version(status="processing")),
        read_version(status="published"),
        lambda: VersionRecord.objects.get(version_id="ver_2").status,
        "published",
        first=read_audience(),
    ),
    "page": Race(
        read_page(status="draft"),
        read_page(status="archived"),
        lambda: PageRecord.objects.get().status,
        "archived",
        first=read_page(),
    ),
    "total": Race(read_total(7), read_total(8), lambda: ListTotal.objects.get().total_count, 8),
    "subscription": Race(
        read_subscription(),
        read_subscription(active=False),
        lambda: SubscriptionRecord.objects.get().active,
        False,
        first=read_subscription(),
    ),
}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("race", RACES.values(), ids=RACES)
def test_an_older_read_never_overwrites_a_newer_one(race: Race) -> None:
    if race.first:
        race.first(FIRST)
    with held_at(COMPARED, race.older, OLDER):
        race.newer(NEWER)
    assert race.state() == race.expected


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_state_that_came_back_is_recorded() -> None:
    read_page(status="published")(FIRST)
    point = before_statement("UPDATE", "ledger_pagerecord", "last_seen_at")
    with held_at(point, read_page(status="published"), NEWER):
        read_page(status="archived")(OLDER)
    assert PageRecord.objects.get().status == "published"


@pytest.mark.django_db
def test_an_overtaken_list_still_records_other_changes() -> None:
    read_audience()(FIRST)
    read_version(status="queued")(NEWER)
    for seconds, name in enumerate(["Renamed", "Renamed again"]):
        read_audience(effectiveName=name)(OLDER + timedelta(seconds=seconds))
        record = AudienceRecord.objects.get()
        assert (record.name, record.latest_status) == (name, "queued")
        assert VersionRecord.objects.get(version_id="ver_2").status == "queued"


@pytest.mark.django_db
def test_of_two_publishes_the_later_response_counts() -> None:
    read_audience()(FIRST)
    read_version(status="published")(NEWER)
    read_version(status="queued")(OLDER)
    assert AudienceRecord.objects.get().latest_status == "published"


@pytest.mark.django_db
def test_a_recent_state_is_not_overwritten() -> None:
    for record in (read_page, read_audience):
        name = {read_page: "name", read_audience: "effectiveName"}[record]
        record(**{name: "New"})(NOW)
        record(**{name: "New"})(NOW + timedelta(seconds=3))
        record(**{name: "Old"})(NOW + timedelta(seconds=2))
    assert (PageRecord.objects.get().name, AudienceRecord.objects.get().name) == ("New", "New")


@pytest.mark.django_db
def test_audiences_read_before_their_number_changed_are_read_again() -> None:
    read_page(audiencesCount=1)(FIRST)
    read_page(audiencesCount=2)(NEWER)
    read_audience()(OLDER)
    assert PageRecord.objects.get().audiences_count_read is None


@pytest.mark.django_db
def test_a_slow_review_does_not_undo_a_later_read(fake_service: FakeService) -> None:
    read_page(status="published")(FIRST)

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(wire.audience()))
        if request.url.path.endswith("/messages"):
            return httpx.Response(404, json={})
        read_page(status="archived")(timezone.now())
        return httpx.Response(200, json=wire.page(status="published"))

    fake_service.answer = respond
    review_publish(PublishTarget("page_1", "aud_1", "ver_2"), with_conversation=True)
    assert PageRecord.objects.get().status == "archived"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_page_flags_follow_two_concurrent_changes() -> None:
    read_page()(FIRST)
    not_live = {"latestVersion": wire.version(audienceId="aud_2"), "publishedVersion": None}
    both = [wire.audience(publishedVersion=None), wire.audience(audienceId="aud_2", **not_live)]
    audiences = [Audience.model_validate(audience) for audience in both]
    record_audiences("page_1", audiences, read_at=FIRST)
    queued = read_version(audienceId="aud_2", status="queued")
    # The first read has already computed the page's flags when the second computes them.
    with held_at(before_commit(), WENT_LIVE, OLDER):
        other = begun(before_statement("ledger_pagerecord"), queued, NEWER)
    other.result(PATIENCE_S)
    page = PageRecord.objects.get()
    assert (page.any_live, page.any_in_flight) == (True, True)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_page_flags_are_locked_in_upsert_order() -> None:
    # In this order on disk, so that an unordered update would begin with page_2.
    for page_id in ("page_2", "page_1"):
        read_page(pageId=page_id)(FIRST)
    PageRecord.objects.update(any_live=True)
    with held_at(before_commit(), read_page(pageId="page_1", name="New"), OLDER):
        flags = begun(before_statement("ledger_pagerecord"), update_page_flags)
        while not flags.done() and not is_anyone_waiting():
            pass
        # The update waits for page_1 and has no lock on page_2.
        with transaction.atomic():
            assert PageRecord.objects.select_for_update(nowait=True).get(page_id="page_2")
    assert flags.result(PATIENCE_S) == 2
