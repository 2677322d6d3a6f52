"""A worker reads a page with a version in progress once for everyone who has it open."""

from collections.abc import Callable

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.recording import record_version
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.releases.hinted_reads import (
    FOLLOW_HINTS,
    MAX_IN_FLIGHT,
    follow_in_flight,
    read_hinted,
)
from dashboard.releases.models import ItemState
from dashboard.releases.worker import Schedule, run_pending
from dashboard.service.reading import read_audiences
from dashboard.webhooks.models import PageHint
from tests.releases.conftest import Publish
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.live_page import BACKGROUND
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences, states

KEY = ("page_0", "aud_1")
LIST = "/v0/pages/page_0/audiences"


@pytest.fixture
def service(db: None, fake_service: FakeService, clock: Clock) -> PublishingAudiences:
    """A service with a queued version of one audience, which was read three seconds ago."""
    fake_service.answer = service = PublishingAudiences(is_fast=False)
    queue(service, KEY)
    clock.advance(3)
    return service


def queue(service: PublishingAudiences, key: Key) -> None:
    """Queue a version of a new audience, and read it."""
    service.add(1, page_id=key[0])
    service.carry_out(key, f"ver_{key[1]}_2")
    service.record()


def work(clock: Clock, seconds: float, *, between: Callable[[], object] = lambda: None) -> None:
    """Run two workers for so many seconds, with a stopped clock."""
    for number in range(round(seconds * 2)):
        follow_in_flight(timezone.now())
        read_hinted(f"worker-{number % 2}")
        between()
        clock.advance(0.5)


def test_its_page_is_read_every_three_seconds(service: PublishingAudiences, clock: Clock) -> None:
    work(clock, 30)
    assert service.paths == [LIST] * 10


def test_it_is_read_until_the_version_is_live(service: PublishingAudiences, clock: Clock) -> None:
    work(clock, 6)
    service.go_live(KEY, "ver_aud_1_2")
    work(clock, 60)
    assert AudienceRecord.objects.get().live_version_id == "ver_aud_1_2"
    assert len(service.paths) == 2 + 1
    assert PageHint.objects.get().wake_at is None


def test_an_older_version_that_was_queued_is_followed(
    service: PublishingAudiences, clock: Clock
) -> None:
    service.go_live(KEY, "ver_aud_1_2")
    service.record()
    work(clock, 3)
    queued = service.carry_out(KEY, "ver_aud_1_1")
    record_version("page_0", AudienceVersion.model_validate(queued))
    service.paths.clear()
    work(clock, 12)
    assert service.paths == [LIST] * 4


@pytest.mark.parametrize("starts", [True, False])
def test_a_stuck_version_is_left_alone(
    service: PublishingAudiences, clock: Clock, starts: bool
) -> None:
    if starts:
        work(clock, 3)
    clock.advance(POLLING_PERIOD.total_seconds())
    work(clock, 3)
    service.paths.clear()
    tasks, _ = Schedule("worker", [FOLLOW_HINTS]).check()
    assert tasks == []
    work(clock, 90)
    assert service.paths == []


def test_a_worker_is_started_by_a_version_in_flight(service: PublishingAudiences) -> None:
    schedule = Schedule("worker", [FOLLOW_HINTS])
    assert schedule.check()[0] == [FOLLOW_HINTS]
    follow_in_flight(timezone.now())
    read_hinted("worker")
    assert schedule.check()[0] == []


def test_a_later_change_is_followed_again(service: PublishingAudiences, clock: Clock) -> None:
    work(clock, 3)
    service.go_live(KEY, "ver_aud_1_2")
    work(clock, 10)
    service.edit(KEY)
    service.carry_out(KEY, "ver_aud_1_3")
    read_audiences("page_0")
    service.paths.clear()
    clock.advance(3)
    work(clock, 30)
    assert len(service.paths) == 10


def test_those_changed_last_are_followed(service: PublishingAudiences, clock: Clock) -> None:
    pages = [f"page_{number}" for number in range(1, MAX_IN_FLIGHT + 11)]
    for number, page_id in enumerate(pages, 2):
        queue(service, (page_id, f"aud_{number}"))
        clock.advance(1)
    service.paths.clear()
    work(clock, 12)
    assert {path.split("/")[3] for path in service.paths} == {*pages[10:]}
    assert len(service.paths) <= MAX_IN_FLIGHT * (12 / 3 + 1)


def test_what_others_have_just_read_is_not_read(service: PublishingAudiences, clock: Clock) -> None:
    work(clock, 3, between=lambda: read_audiences("page_0"))
    service.paths.clear()
    work(clock, 30, between=lambda: read_audiences("page_0"))
    assert len(service.paths) == 60


def test_a_silent_service_gets_few_calls_and_is_followed_when_it_is_back(
    service: PublishingAudiences, fake_service: FakeService, clock: Clock
) -> None:
    work(clock, 3)
    fake_service.sent.clear()
    fake_service.fails(httpx.ConnectTimeout)
    work(clock, 300)
    assert len(fake_service.sent) < 40
    fake_service.answer = service
    work(clock, 45)
    service.paths.clear()
    work(clock, 30)
    assert len(service.paths) == 10


def test_a_followed_release_shares_the_reads(
    service: PublishingAudiences, clock: Clock, publish: Publish
) -> None:
    release = publish(1)
    run_pending("worker")
    work(clock, 3, between=lambda: run_pending("worker"))
    service.paths.clear()
    work(clock, 30, between=lambda: run_pending("worker"))
    assert service.paths == [LIST] * 10
    item = release.items.get()
    service.go_live((item.page_id, item.audience_id), item.version_id)
    work(clock, 3.5, between=lambda: run_pending("worker"))
    assert states(release) == [ItemState.LIVE]


def test_a_release_gives_up_though_the_worker_reads_its_page(
    service: PublishingAudiences, clock: Clock, publish: Publish
) -> None:
    release = publish(1)
    run_pending("worker")
    clock.advance(POLLING_PERIOD.total_seconds() - 5)
    queue(service, ("page_0", "aud_3"))
    work(clock, 15, between=lambda: run_pending("worker"))
    assert PageHint.objects.get().wake_at, "the other version is still followed"
    assert states(release) == [ItemState.UNKNOWN]


# Users who have it open

REGIONS = {
    "/pages/page_0/": "audience-results",
    "/pages/page_0/audiences/aud_1/": "audience-head",
    "/pages/page_0/audiences/aud_1/versions/": "history",
    "/audiences/": "results",
    "/": "in-flight",
}


def refresh(client: Client, path: str) -> str:
    headers = BACKGROUND | {"HX-Target": REGIONS[path], "X-Moving": "1"}
    return client.get(path, headers=headers).content.decode()


def test_all_tabs_together_cost_one_call_every_three_seconds(
    service: PublishingAudiences, clock: Clock, as_viewer: Client
) -> None:
    work(clock, 3)
    service.paths.clear()
    for _ in range(3):
        for path in REGIONS:
            for _ in range(4):
                refresh(as_viewer, path)
        work(clock, 3)
    assert service.paths == [LIST] * 3


@pytest.mark.parametrize("path", REGIONS)
def test_without_a_worker_tabs_read_themselves(
    service: PublishingAudiences, clock: Clock, as_viewer: Client, path: str
) -> None:
    work(clock, 3)
    service.paths.clear()
    clock.advance(9)
    refresh(as_viewer, path)
    assert service.paths == [LIST]


def test_updated_is_the_time_of_the_workers_read(
    service: PublishingAudiences, clock: Clock, as_viewer: Client
) -> None:
    read_at = timezone.localtime().isoformat(timespec="seconds")
    work(clock, 2)
    html = refresh(as_viewer, "/pages/page_0/audiences/aud_1/")
    assert f'Updated <time datetime="{read_at}"' in html
