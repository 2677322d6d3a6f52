"""What /metrics exports, and who may read it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from config.environment import project_version
from dashboard.ledger.models import Crawl
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Target, begin
from dashboard.notifications.models import Channel, Delivery
from dashboard.observability.metrics import get_metrics
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD
from tests.support import wire
from tests.support.clock import corrected_by
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.publishing_service import PublishingService, answers

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-the-tests"
PUBLISH = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"


@pytest.fixture(autouse=True)
def _from_zero(settings: Any) -> Iterator[None]:
    settings.METRICS_TOKEN = TOKEN
    get_metrics.cache_clear()
    yield
    get_metrics.cache_clear()


def scrape() -> dict[str, float]:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_the_metrics_address_needs_its_token(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = None
    assert client.get("/metrics", headers={"Authorization": "Bearer None"}).status_code == 404


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer wrong", TOKEN])
def test_who_brings_another_token_is_refused(client: Client, sent: str) -> None:
    answer = client.get("/metrics", headers={"Authorization": sent})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert b"pressroom_" not in answer.content


def test_requests_are_counted_by_the_name_of_their_address(
    as_viewer: Client, fake_service: FakeService
) -> None:
    for page_id in ("page_1", "page_2"):
        as_viewer.get(f"/pages/{page_id}/")
    as_viewer.get("/nowhere/at/all")
    as_viewer.generic("BREW", "/nowhere/at/all")
    metrics = scrape()
    assert metrics['pressroom_requests_total{method="GET",status="404",view="page-detail"}'] == 2
    assert metrics['pressroom_requests_total{method="GET",status="404",view="none"}'] == 1
    assert metrics['pressroom_requests_total{method="other",status="404",view="none"}'] == 1
    assert metrics['pressroom_request_seconds_count{view="page-detail"}'] == 2


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (httpx.Response(200, json={"hasMore": False, "items": [], "totalCount": 0}), "answered"),
        (httpx.Response(200, text="<html>"), "unreadable"),
        (httpx.Response(404), "refused"),
        (httpx.Response(500), "failed"),
        (httpx.ReadTimeout, "no_answer"),
    ],
)
def test_calls_are_counted_by_operation_and_outcome(
    as_viewer: Client, fake_service: FakeService, answer: Any, outcome: str
) -> None:
    if isinstance(answer, httpx.Response):
        fake_service.answer = lambda request: answer
    else:
        fake_service.fails(answer)
    as_viewer.get("/people/")
    metrics = scrape()
    calls = f'pressroom_service_calls_total{{operation="List people",outcome="{outcome}"}}'
    assert metrics[calls] == 1
    assert metrics['pressroom_service_call_seconds_count{operation="List people"}'] == 1
    assert metrics["pressroom_service_answering"] == (outcome not in {"failed", "no_answer"})


def test_held_back_messages_are_counted(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.fails(httpx.ReadTimeout)
    for _ in range(FAILURE_THRESHOLD + 2):
        as_viewer.get("/people/")
    metrics = scrape()
    calls = 'pressroom_service_calls_total{operation="List people",outcome='
    assert (metrics[f'{calls}"no_answer"}}'], metrics[f'{calls}"held_back"}}']) == (
        FAILURE_THRESHOLD,
        2,
    )
    assert metrics['pressroom_service_held_back{operation="List people"}'] == 1
    assert metrics['pressroom_service_held_back{operation="List pages"}'] == 0


def test_operations_are_counted_by_outcome(as_publisher: Client, fake_service: FakeService) -> None:
    fake_service.answer = PublishingService(way=answers(409, "No"))
    form = elements(as_publisher.get(PUBLISH).text, "input")
    values = {item.attributes.get("name"): item.attributes.get("value") for item in form}
    as_publisher.post(PUBLISH, {"operation_key": values["operation_key"]})
    counts = scrape()
    assert counts['pressroom_operations_total{kind="publish_version",outcome="rejected"}'] == 1


def test_operations_without_an_outcome_can_be_watched(paula: User) -> None:
    begin(
        operation_key="k", kind=OperationKind.PUBLISH_VERSION, actor=paula, target=Target(), body={}
    )
    metrics = scrape()
    assert metrics['pressroom_operations_open{outcome="sending"}'] == 1
    assert metrics['pressroom_operations_open{outcome="unknown"}'] == 0


def test_how_long_a_notification_waits_can_be_watched(paula: User) -> None:
    made_at = timezone.now() - timedelta(hours=2)
    Delivery.objects.create(
        channel=Channel.EMAIL,
        user=paula,
        message_id="msg_1",
        created_at=made_at,
        retry_until=made_at + timedelta(days=3),
    )
    ages = scrape()
    assert 7200 <= ages['pressroom_delivery_age_seconds{channel="email"}'] < 7300
    assert ages['pressroom_delivery_age_seconds{channel="webhook"}'] == 0


def test_what_is_counted_can_be_read_without_a_database() -> None:
    Client().get("/health/live")

    def gone(*_: Any) -> None:
        raise OperationalError("the connection was closed")

    with connection.execute_wrapper(gone):
        metrics = scrape()
    assert metrics['pressroom_requests_total{method="GET",status="200",view="health-live"}'] == 1
    assert not [name for name in metrics if name.startswith("pressroom_operations_open")]


def test_a_refused_key_has_a_gauge_of_its_own(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(401)
    as_viewer.get("/people/")
    assert scrape()["pressroom_service_key_refused"] == 1
    assert scrape()["pressroom_service_answering"] == 0
    fake_service.answers(200, json=wire.envelope(wire.person()))
    as_viewer.get("/people/")
    assert scrape()["pressroom_service_key_refused"] == 0
    assert scrape()["pressroom_service_answering"] == 1


def test_a_wrong_clock_is_exported() -> None:
    with corrected_by(timedelta(seconds=-40)):
        assert scrape()["pressroom_clock_ahead_seconds"] == 40


def test_the_crawl_and_the_version_are_exported() -> None:
    assert not [name for name in scrape() if name.startswith("pressroom_crawl")]
    now = timezone.now()
    Crawl.objects.create(pk=1, wake_at=now, state="failed", pages=40, finished_at=now)
    metrics = scrape()
    assert metrics["pressroom_crawl_failed"] == 1
    assert metrics["pressroom_crawl_pages"] == 40
    assert metrics["pressroom_crawl_finished_timestamp_seconds"] == pytest.approx(now.timestamp())
    [build] = [name for name in metrics if name.startswith("pressroom_build_info")]
    assert f'version="{project_version()}"' in build
