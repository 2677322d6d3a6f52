"""During an outage, no page looks current, and buttons that need the service are disabled."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord
from dashboard.notifications.watches import watch_service
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD, RETRY_DELAYS_S
from dashboard.service.outages import CACHE_KEY, SETTLES_IN, note_response
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.live_page import LivePage
from tests.support.seeding import seed_audiences, seed_pages, seed_release, seed_subscription

pytestmark = pytest.mark.django_db

OFF = {
    "/": ["Create page"],
    "/pages/new/": ["Create page", "Create and add another"],
    "/audiences/": ["Publish…"],
    "/releases/": ["New release"],
    "/releases/1/": ["Publish 1 now", "Request approval"],
    "/webhooks/": ["Active: CRM", "Add subscription"],
    "/webhooks/whs_1/": ["Active: CRM", "Review and save"],
    "/activity/": [],
}
"""Pages that don't read the service, with the buttons that are disabled in an outage."""


@pytest.fixture(autouse=True)
def _retry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


@pytest.fixture
def mia(fake_service: FakeService) -> Client:
    """Log in Mia, who has every permission; the ledger was filled yesterday."""
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(days=1))
    seed_release(1)
    seed_subscription()
    return logged_in(person("mia", "Publishers", "Administrators"))


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("failed", request=request) from ConnectionRefusedError()


def hang(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("timed out", request=request)


def fail(client: Client) -> None:
    """Let as many calls fail in a row as it takes to begin an outage."""
    for _ in range(FAILURE_THRESHOLD):
        client.get("/people/")


def buttons_off(html: str) -> list[str]:
    """Return the labels of the buttons that are disabled for the reason in the banner."""
    matches = re.findall(
        r"<button[^>]*aria-describedby=\"outage\"[^>]*>(.*?)</button>", html, re.DOTALL
    )
    return [text(re.sub(r'<[^>]*aria-hidden="true">[^<]*</span>', "", words)) for words in matches]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(refuse, "fake.service refused the connection."), (hang, "The service didn’t respond within")],
)
def test_every_page_names_the_outage_and_disables_buttons(
    mia: Client, fake_service: FakeService, answer: Any, reason: str
) -> None:
    fake_service.answer = answer
    fail(mia)
    for address, off in OFF.items():
        html = mia.get(address).text
        banner = text(html[html.index('id="outage"') : html.index('<div class="bar">')])
        assert reason in banner, address
        assert "timeouts" not in html, address
        assert set(off) <= set(buttons_off(html)), address
        assert elements(html, "main"), address


def test_updated_is_the_age_of_the_data(mia: Client, fake_service: FakeService) -> None:
    yesterday = timezone.localdate() - timedelta(days=1)
    assert f'datetime="{yesterday}' in fresh(mia, "/audiences/")
    fake_service.answer = refuse
    fail(mia)
    assert f'datetime="{yesterday}' in fresh(mia, "/releases/")


def fresh(client: Client, address: str) -> str:
    html = client.get(address).text
    start = html.index("Updated ", html.index('<div class="bar">'))
    return html[start : html.index("</span>", start)]


def test_one_error_of_one_object_is_no_outage(mia: Client, fake_service: FakeService) -> None:
    fake_service.answers(500, json={"detail": "Broken"})
    mia.get("/people/")
    assert 'id="outage"' not in mia.get("/releases/").text
    for _ in range(2):
        mia.get("/people/")
    assert "The service returned 500: Broken." in mia.get("/releases/").text


@pytest.mark.parametrize("answer", [refuse, hang])
def test_a_worker_notices_an_outage_when_it_starts(
    mia: Client, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    clock = stopped(monkeypatch)
    fake_service.answer = answer
    watch_service(timezone.now())
    html = mia.get("/audiences/").text
    assert 'id="outage"' in html
    clock.advance(RETRY_DELAYS_S[0])
    fake_service.answers(200, json=wire.envelope(wire.page()))
    watch_service(timezone.now())
    assert 'id="outage"' not in mia.get("/audiences/").text


def test_a_check_ends_the_outage_and_returns(mia: Client, fake_service: FakeService) -> None:
    fake_service.answer = hang
    fail(mia)
    back = {"next": "/audiences/"}
    html = mia.post("/service/check/", back, follow=True).text
    assert 'id="outage"' in html
    fake_service.answers(200, json=wire.envelope(wire.page()))
    html = mia.post("/service/check/", back, follow=True).text
    assert 'id="outage"' not in html
    assert "<h1>Audiences</h1>" in html
    assert not buttons_off(html)


# Several processes, each with its own cache.


def test_an_outage_that_one_process_noticed_is_on_the_pages_of_all(
    mia: Client, fake_service: FakeService
) -> None:
    fake_service.answer = refuse
    fail(mia)
    cache.clear()
    html = mia.get("/releases/").text
    assert 'id="outage"' in html
    assert "Service not checked yet" not in html
    cache.clear()
    fake_service.answers(200, json=wire.envelope(wire.page()))
    mia.get("/people/")
    cache.clear()
    assert 'id="outage"' not in mia.get("/releases/").text


def test_an_outage_that_has_just_ended_does_not_begin_again(
    mia: Client, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    fake_service.answer = refuse
    fail(mia)
    clock.advance(1)
    note_response(timezone.now())
    for is_out in (False, True):
        cache.clear()
        fail(mia)
        assert ('id="outage"' in mia.get("/releases/").text) == is_out
        clock.advance(SETTLES_IN.total_seconds())


def test_an_outage_lasts_until_a_response(
    mia: Client, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    fake_service.answer = refuse
    fail(mia)
    clock.advance(1_200)
    cache.clear()
    assert 'id="outage"' in mia.get("/releases/").text


def test_a_process_that_lags_behind_takes_no_banner_back(
    mia: Client, fake_service: FakeService
) -> None:
    assert 'id="outage"' not in mia.get("/releases/").text
    lagging = cache.get(CACHE_KEY)
    fake_service.answer = refuse
    fail(mia)
    page = LivePage(mia, "/releases/")
    cache.set(CACHE_KEY, lagging)
    page.poll()
    assert page.response.status_code == 204


@pytest.mark.parametrize("address", ["/", "/audiences/", "/releases/", "/activity/"])
@pytest.mark.parametrize("failures", [1, FAILURE_THRESHOLD])
def test_no_page_looks_fresh_while_the_service_is_away(
    mia: Client,
    fake_service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    failures: int,
) -> None:
    clock = stopped(monkeypatch)
    fake_service.answers(200, json=wire.envelope())
    mia.get("/people/")
    clock.advance(600)
    fake_service.answer = refuse
    for _ in range(failures):
        mia.get("/people/")
    now = timezone.localtime()
    assert f'datetime="{now.isoformat(timespec="seconds")[:16]}' not in fresh(mia, address)
    html = mia.get(address).text
    assert ("This is the last known state" in html) == (failures == FAILURE_THRESHOLD)
