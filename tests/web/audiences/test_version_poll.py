"""The history polls while a version is in progress."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.recording import record_version
from dashboard.operations.publish_progress import MAX_POLLS
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.one_audience import address, serve
from tests.support.polled_page import IDLE, PolledPage

pytestmark = pytest.mark.django_db


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def queued(**differs: Any) -> dict[str, Any]:
    return wire.version(status="queued", queuedAt=ago(seconds=20)) | differs


def open_history(client: Client) -> PolledPage:
    return PolledPage(client, address("version-list"), "watch")


@pytest.mark.parametrize("latest", [wire.version(), wire.version(status="cancelled")])
def test_nothing_in_progress_is_not_polled(
    latest: dict[str, Any], fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=latest))
    assert open_history(as_viewer).trigger == IDLE


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_a_version_in_progress_is_polled(
    status: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(status=status)))
    page = open_history(as_viewer)
    assert re.search(r"Publishing version 2 \(2\d s\)\. Updates automatically\.", page.text)
    assert page.poll_url


@pytest.mark.parametrize(
    ("waited", "delay"), [({"seconds": 1}, "1s"), ({"seconds": 25}, "5s"), ({"minutes": 10}, "10s")]
)
def test_polling_slows_down_over_time(
    waited: dict[str, float], delay: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(queuedAt=ago(**waited))))
    assert f"load delay:{delay}, again" in open_history(as_viewer).trigger


@pytest.mark.parametrize(("since", "delay"), [(None, "10s"), ("2026-03-01T09:00:00Z", "60s")])
def test_an_old_version_is_polled_rarely_and_not_forever(
    since: str | None, delay: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(queuedAt=since)))
    page = open_history(as_viewer)
    for _ in range(MAX_POLLS):
        assert f"load delay:{delay}, again" in page.html
        page = page.next()
    assert "load delay" not in page.html
    assert "Auto-refresh stopped." in page.text


def test_a_poll_without_changes_returns_no_list(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    fake_service.sent.clear()
    part = page.next()
    assert part.poll_url == page.poll_url
    assert "Updated " in part.text
    assert "<ol" not in part.html
    assert len(fake_service.sent) == 1


def test_a_change_returns_the_list_and_is_announced_once(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    serve(fake_service, wire.audience(latestVersion=queued(status="processing")))
    part = page.next()
    assert "Version 2: processing." in part.text
    assert [e.attributes["id"] for e in elements(part.html, "li") if "id" in e.attributes] == [
        "row-ver_2",
        "row-ver_1",
    ]
    again = part.next()
    assert "watch-announcement" not in again.html


def test_the_end_is_announced_and_polling_stops(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    part = page.next()
    assert "load delay" not in part.html
    assert "Version 2 is live." in part.text


def test_selected_versions_stay_selected(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    serve(fake_service, wire.audience(latestVersion=queued(status="processing")))
    part = page.next("&from=ver_2&to=ver_1")
    chosen = [e.attributes for e in elements(part.html, "input") if "checked" in e.attributes]
    assert [(item["name"], item["value"]) for item in chosen] == [
        ("from", "ver_2"),
        ("to", "ver_1"),
    ]


def test_a_rollback_is_polled_until_it_is_live(
    fake_service: FakeService, as_viewer: Client
) -> None:
    """The service shows only the latest and the live version."""
    older = wire.version(
        versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago(seconds=5)
    )
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = open_history(as_viewer)
    assert "Publishing version 0" in page.text
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    part = page.next()
    assert "load delay" not in part.html
    assert "Version 0 is live." in part.text


def test_a_failed_poll_is_reported_and_polling_continues(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    fake_service.fails(httpx.ConnectError)
    part = page.next()
    assert "Refresh failed." in part.text
    assert part.poll_url


def test_a_poll_makes_few_queries(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    with django_assert_max_num_queries(12):
        page.next()
