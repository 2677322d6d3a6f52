"""The badge of an audience in a list of another page: polled until its version is settled."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord
from dashboard.web.ui.polling import MAX_POLLS
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
BADGE = "/pages/page_1/audiences/aud_1/?badge="


def audience(status: str, **differs: Any) -> dict[str, Any]:
    latest = wire.version(status=status)
    return wire.audience(latestVersion=latest, publishedVersion=None) | differs


def see(status: str, **differs: Any) -> None:
    """Record the audience as seen a minute ago."""
    seed_pages(wire.page())
    seed_audiences(audience(status, **differs))
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))


def get(client: Client, address: str, *, target: str = "", status: int = 200) -> str:
    response = client.get(address, headers=HTMX | {"HX-Target": target} if target else HTMX)
    assert response.status_code == status
    return response.text


def next_polls(html: str) -> list[tuple[str, str]]:
    """Return the address and the trigger of each badge that is polled."""
    parts = [
        element.attributes
        for element in elements(html, "span")
        if "data-polls" in element.attributes
    ]
    return [(part["hx-get"], part["hx-trigger"]) for part in parts]


@pytest.mark.parametrize("words", ["bright", ""])
def test_a_search_result_in_progress_is_polled(
    as_viewer: Client, fake_service: FakeService, words: str
) -> None:
    see("processing")
    serve(fake_service, audience("processing"))
    as_viewer.get("/pages/page_1/audiences/aud_1/")  # Without words, recent visits are shown.
    html = get(as_viewer, f"/find/?q={words}", target="find-results")
    assert next_polls(html) == [(f"{BADGE}0", "load delay:2s, again")]


def test_an_audience_of_a_person_in_progress_is_polled(
    as_viewer: Client, fake_service: FakeService
) -> None:
    see("queued", prospectId="prospect_1")
    fake_service.answers(200, json=wire.envelope(wire.person()))
    html = get(as_viewer, "/people/?person=prospect_1", target="person")
    assert next_polls(html) == [(f"{BADGE}0", "load delay:2s, again")]


def test_a_settled_audience_is_not_polled(as_viewer: Client, fake_service: FakeService) -> None:
    see("draft")
    assert next_polls(get(as_viewer, "/find/?q=bright", target="find-results")) == []


def test_a_badge_is_polled_until_its_version_is_live(
    as_viewer: Client, fake_service: FakeService
) -> None:
    see("queued")
    serve(fake_service, audience("processing"))
    html = get(as_viewer, f"{BADGE}0")
    assert text(html) == "Processing"
    assert next_polls(html) == [(f"{BADGE}1", "load delay:3s, again")]
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    html = get(as_viewer, f"{BADGE}1")
    assert text(html) == "Version 2 live"
    assert next_polls(html) == []


def test_badges_of_one_page_share_a_call(as_viewer: Client, fake_service: FakeService) -> None:
    see("queued")
    serve(fake_service, audience("processing"))
    for _ in range(3):
        get(as_viewer, f"{BADGE}0")
    assert len(fake_service.sent) == 1


def test_a_failed_poll_shows_last_known_and_continues(
    as_viewer: Client, fake_service: FakeService
) -> None:
    see("queued")
    fake_service.fails(httpx.ConnectError)
    html = get(as_viewer, f"{BADGE}2")
    assert text(html) == "Queued"
    assert next_polls(html) == [(f"{BADGE}3", "load delay:5s, again")]


def test_polling_stops_in_the_end(as_viewer: Client, fake_service: FakeService) -> None:
    see("pending")
    serve(fake_service, audience("pending"))
    assert next_polls(get(as_viewer, f"{BADGE}{MAX_POLLS - 1}")) == []


def test_the_badge_of_an_unknown_audience_is_404(
    as_viewer: Client, fake_service: FakeService
) -> None:
    get(as_viewer, f"{BADGE}0", status=404)
    assert fake_service.sent == []
