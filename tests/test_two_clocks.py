"""Two servers work together although one clock is 40 s ahead or behind."""

from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from dashboard import clock
from dashboard.clock import CLAIM, RENEWED_AFTER, interrupted_after
from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import AudienceRecord, Crawl, Operation, PageRecord, VersionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import begin_retry, mark_interrupted_unknown
from dashboard.ledger.recording import record_page, record_version
from dashboard.operations.checking import PublishTarget, check_outcome
from dashboard.operations.execution import send
from dashboard.operations.publish import begin_publish
from dashboard.releases.models import Release
from dashboard.service.health import clock_ahead
from dashboard.service.reading import read_audiences, read_pages
from dashboard.work.claims import Claim, claim_next
from tests.operations.page_creation import IDENTITY, create_page
from tests.support import wire
from tests.support.clock import corrected_by, database_ahead, on_server_ahead, stopped
from tests.support.fake_service import FakeService
from tests.support.interleaving import before_response, held_at
from tests.support.release_service import PublishingAudiences

pytestmark = pytest.mark.django_db

SERVERS = pytest.mark.parametrize("ahead_s", [40, -40])


@SERVERS
def test_the_later_read_stays(ahead_s: int) -> None:
    draft, archived = (
        PageItem.model_validate(wire.page(status=status)) for status in ("draft", "archived")
    )
    with on_server_ahead(ahead_s):
        record_page(draft)
    record_page(archived)
    assert PageRecord.objects.get().status == "archived"
    with on_server_ahead(ahead_s):
        record_page(draft)
    assert PageRecord.objects.get().status == "draft"


@SERVERS
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_read_in_progress_is_older_than_a_publish(
    fake_service: FakeService, ahead_s: int
) -> None:
    draft = wire.version(status="draft")
    fake_service.answers(200, json=wire.envelope(wire.audience(latestVersion=draft)))
    read_audiences("page_1")
    with (
        on_server_ahead(ahead_s),
        held_at(before_response(fake_service, "/audiences"), read_audiences, "page_1"),
        on_server_ahead(-ahead_s),
    ):
        queued = AudienceVersion.model_validate(wire.version(status="queued"))
        record_version("page_1", queued)
    assert AudienceRecord.objects.get().latest_status == "queued"
    assert VersionRecord.objects.get(version_id="ver_2").status == "queued"


@SERVERS
def test_a_call_in_flight_is_not_retried_beside_itself(
    fake_service: FakeService, paula: User, monkeypatch: pytest.MonkeyPatch, ahead_s: int
) -> None:
    time = stopped(monkeypatch)
    service = PublishingAudiences()
    [(page_id, audience_id)] = service.add()
    target = PublishTarget(page_id, audience_id, f"ver_{audience_id}_2")

    def respond(request: httpx.Request) -> httpx.Response:
        time.advance(interrupted_after().total_seconds() - 1)
        with on_server_ahead(-ahead_s):
            assert mark_interrupted_unknown() == 0
            assert begin_retry(Operation.objects.get(), actor=paula) is None
        return service(request)

    fake_service.answer = respond
    with on_server_ahead(ahead_s):
        operation, attempt = begin_publish(
            target, operation_key="key", version=None, live=None, audience_name="", actor=paula
        )
        assert attempt
        assert send(operation, attempt).operation.outcome == Outcome.ACCEPTED


@SERVERS
def test_a_page_whose_response_was_lost_is_found(
    fake_service: FakeService, paula: User, ahead_s: int
) -> None:
    fake_service.fails(httpx.ReadTimeout)
    with on_server_ahead(ahead_s):
        operation = create_page(paula)
    assert operation.outcome == Outcome.UNKNOWN
    created = wire.page(**IDENTITY, createdAt=timezone.now().isoformat())
    fake_service.answers(200, json=wire.envelope(created))
    read_pages()
    with on_server_ahead(ahead_s):
        assert check_outcome(operation).outcome == Outcome.ACCEPTED


@SERVERS
def test_the_service_s_clock_is_compared_with_the_database(
    fake_service: FakeService, ahead_s: int
) -> None:
    with corrected_by(timedelta(seconds=ahead_s)):
        date = format_datetime(clock.now(), usegmt=True)
        fake_service.answers(200, json=wire.envelope(wire.page()), headers={"Date": date})
        read_pages()
    assert clock_ahead() == timedelta()


def claimed(worker_id: str) -> Claim[Release] | None:
    return claim_next(Release.objects.all(), worker_id, clock.now())


@SERVERS
def test_a_claim_lasts_as_long_on_each_server(
    monkeypatch: pytest.MonkeyPatch, ahead_s: int
) -> None:
    time, now = stopped(monkeypatch), clock.now()
    Release.objects.create(name="Prices", created_at=now, wake_at=now)
    with on_server_ahead(ahead_s):
        claim = claimed("one")
        assert claim
        assert claimed("next") is None
    assert claimed("next") is None
    time.advance(RENEWED_AFTER.total_seconds())
    with on_server_ahead(ahead_s):
        claim.renew()
    time.advance(CLAIM.total_seconds() - 1)
    assert claimed("next") is None
    time.advance(1)
    assert claimed("next")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is on this machine")
def test_a_crawl_is_claimed_by_the_database_s_clock(fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope())
    with database_ahead(40):
        call_command("crawl", verbosity=0)
    started_at = Crawl.objects.get().started_at
    assert started_at
    assert timedelta(seconds=39) < started_at - timezone.now()
