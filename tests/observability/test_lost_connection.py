"""A connection that PostgreSQL ends during a call of the service is opened again."""

from threading import Event
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.ledger.crawls import schedule_first_crawl
from dashboard.ledger.models import Crawl, CrawlState, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.service.crawl_task import run_crawl
from tests.support.fake_service import Answer, FakeService
from tests.support.html import page_html, response_text
from tests.support.publish_dialog import ADDRESS, form_in
from tests.support.publishing_service import PublishingService
from tests.support.release_service import PublishingAudiences

pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connection"),
]


def losing(service: Answer, end: str) -> Answer:
    """Lose the connection during each call of a URL with this end, as when PostgreSQL restarts."""

    def answer(request: httpx.Request) -> httpx.Response:
        response = service(request)
        if request.url.path.endswith(end):
            connection.connection.close()
        return response

    return answer


def test_the_outcome_of_a_publish_is_recorded(
    as_publisher: Client, publishing: PublishingService, fake_service: FakeService
) -> None:
    form = form_in(page_html(as_publisher, ADDRESS))
    fake_service.answer = losing(publishing, "/publish")
    as_publisher.post(ADDRESS, form)
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_a_page_is_shown(
    as_publisher: Client, publishing: PublishingService, fake_service: FakeService
) -> None:
    fake_service.answer = losing(publishing, "/page_1")
    response = as_publisher.get("/pages/page_1/")
    assert response.status_code == 200
    assert "Couldn’t record this data." in response_text(response)


def test_a_crawl_lacks_one_page(fake_service: FakeService, settings: Any) -> None:
    settings.CRAWL_RATE = 1_000
    service = PublishingAudiences()
    for number in range(8):
        service.add(1, page_id=f"page_{number}")
    fake_service.answer = losing(service, "/page_0/audiences")
    schedule_first_crawl(timezone.now())
    run_crawl("worker-1", Event())
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.audiences, crawl.problems) == (CrawlState.FINISHED, 7, 1)
