"""In an outage no page looks current, and nothing that needs the service can be pressed."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord
from dashboard.notifications.watches import note_service
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
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
"""Pages that read nothing from the service, with the buttons that are off in an outage."""


@pytest.fixture
def mia(fake_service: FakeService) -> Client:
    """Log in Mia, who may do everything; the ledger was filled yesterday."""
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


def buttons_off(html: str) -> list[str]:
    """Return the words of the buttons that are off for the reason in the banner."""
    matches = re.findall(
        r"<button[^>]*aria-describedby=\"outage\"[^>]*>(.*?)</button>", html, re.DOTALL
    )
    return [text(re.sub(r'<[^>]*aria-hidden="true">[^<]*</span>', "", words)) for words in matches]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(refuse, "fake.service refused the connection."), (hang, "The service didn't respond within")],
)
def test_every_page_names_the_outage_and_disables_buttons(
    mia: Client, fake_service: FakeService, answer: Any, reason: str
) -> None:
    fake_service.answer = answer
    mia.get("/pages/")
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
    mia.get("/pages/")
    assert text(fresh(mia, "/releases/")).startswith("Updated before the outage")


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


def test_a_workers_check_counts_in_every_process(mia: Client, clock: Clock) -> None:
    note_service(timezone.now(), is_reachable=False, reason="The host is away.")
    assert "The host is away." in mia.get("/releases/").text
    clock.advance(30)
    note_service(timezone.now(), is_reachable=True)
    cache.clear()
    assert 'id="outage"' not in mia.get("/releases/").text


def test_a_check_ends_the_outage_and_returns(mia: Client, fake_service: FakeService) -> None:
    fake_service.answer = hang
    mia.get("/people/")
    back = {"next": "/audiences/"}
    html = mia.post("/service/check/", back, follow=True).text
    assert 'id="outage"' in html
    fake_service.answers(200, json=wire.envelope(wire.page()))
    html = mia.post("/service/check/", back, follow=True).text
    assert 'id="outage"' not in html
    assert "<h1>Audiences</h1>" in html
    assert not buttons_off(html)
