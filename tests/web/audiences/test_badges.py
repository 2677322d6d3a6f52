"""The badge of an audience in another page's list is updated by that page's poll."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.live_page import Region
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db

RESULTS, PERSON = "/find/?q=bright", "/people/?person=prospect_1"


def audience(status: str, **differs: Any) -> dict[str, Any]:
    latest = wire.version(status=status)
    return wire.audience(latestVersion=latest, publishedVersion=None) | differs


def see(status: str, **differs: Any) -> None:
    """Record the audience as seen a minute ago."""
    seed_pages(wire.page())
    seed_audiences(audience(status, **differs))
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))


def badge(client: Client, url: str = RESULTS) -> Region:
    return Region(client, url, f"badge-{AudienceRecord.objects.get().pk}")


def test_the_badge_of_a_search_result_follows_its_audience(
    as_viewer: Client, fake_service: FakeService
) -> None:
    see("queued")
    serve(fake_service, audience("processing"))
    result = badge(as_viewer)
    assert result.topics == ["audience:page_1:aud_1"]
    assert result.element.attributes["data-every"] == "10"
    assert result.refresh().text.endswith("Processing")
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    assert result.refresh().text.endswith("Version 2 live")
    assert "data-every" not in result.element.attributes


def test_an_audience_of_a_person_is_followed(as_viewer: Client, fake_service: FakeService) -> None:
    see("draft", prospectId="prospect_1")
    fake_service.answers(200, json=wire.envelope(wire.person()))
    result = badge(as_viewer, PERSON)
    sent = len(fake_service.sent)
    assert result.refresh().text.endswith("Draft")
    assert len(fake_service.sent) == sent, "what is settled is as recorded"


def test_the_palette_does_not_follow_the_feed(as_viewer: Client) -> None:
    see("queued")
    headers = {"HX-Request": "true", "HX-Target": "palette-list"}
    assert "data-live" not in as_viewer.get(RESULTS, headers=headers).text


def test_badges_on_a_page_share_a_call(as_viewer: Client, fake_service: FakeService) -> None:
    see("queued")
    serve(fake_service, audience("processing"))
    result = badge(as_viewer)
    for _ in range(3):
        result.refresh()
    assert len(fake_service.sent) == 1


def test_a_failed_read_shows_the_last_known_state(
    as_viewer: Client, fake_service: FakeService
) -> None:
    see("queued")
    result = badge(as_viewer)
    fake_service.fails(httpx.ConnectError)
    assert result.refresh().text.endswith("Queued")
    assert result.element.attributes["data-every"] == "10"


def test_the_badge_of_an_unknown_audience_is_404(
    as_viewer: Client, fake_service: FakeService
) -> None:
    url = "/pages/page_1/audiences/aud_1/?badge"
    assert as_viewer.get(url, headers={"HX-Request": "true"}).status_code == 404
    assert fake_service.sent == []
