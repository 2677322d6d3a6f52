"""The history of an open page follows a version in progress."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.recording import record_version
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.live_page import Region
from tests.support.one_audience import address, serve

pytestmark = pytest.mark.django_db


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def queued(**differs: Any) -> dict[str, Any]:
    return wire.version(status="queued", queuedAt=ago(seconds=20)) | differs


def open_history(client: Client) -> Region:
    return Region(client, address("version-list"), "history")


@pytest.mark.parametrize("latest", [wire.version(), wire.version(status="cancelled")])
def test_nothing_in_progress_is_not_read_again(
    latest: dict[str, Any], fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=latest))
    page = open_history(as_viewer)
    assert not page.is_moving
    assert "audience:page_1:aud_1" in page.topics


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_a_version_in_progress_is_read_again(
    status: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(status=status)))
    page = open_history(as_viewer)
    assert re.search(r"Publishing version 2 \(2\d s\)\. Updates automatically\.", page.text)
    assert page.is_moving


@pytest.mark.parametrize(
    ("minutes", "is_moving"), [(0.1, True), (29, True), (None, True), (31, False)]
)
def test_a_stuck_version_is_not_read_forever(
    minutes: float | None, is_moving: bool, fake_service: FakeService, as_viewer: Client
) -> None:
    since = ago(minutes=minutes) if minutes else None
    serve(fake_service, wire.audience(latestVersion=queued(queuedAt=since)))
    page = open_history(as_viewer)
    assert page.is_moving is is_moving
    assert ("Updates automatically." in page.text) is is_moving


def test_a_change_is_in_the_list_and_in_the_title(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    serve(fake_service, wire.audience(latestVersion=queued(status="processing")))
    fake_service.sent.clear()
    clock.advance(3)
    page.refresh()
    assert len(fake_service.sent) == 1
    assert "<title>Version 2: processing · " in page.html
    assert [e.attributes["id"] for e in elements(page.html, "li") if "id" in e.attributes] == [
        "row-ver_2",
        "row-ver_1",
    ]


def test_once_live_nothing_is_read_again(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    clock.advance(3)
    page.refresh()
    assert not page.is_moving
    assert "Publishing version" not in page.text
    assert "<title>Versions of " in page.html


def test_selected_versions_stay_selected(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = Region(as_viewer, address("version-list", **{"from": "ver_2", "to": "ver_1"}), "history")
    chosen = [
        e.attributes for e in elements(page.refresh().html, "input") if "checked" in e.attributes
    ]
    assert [(item["name"], item["value"]) for item in chosen] == [
        ("from", "ver_2"),
        ("to", "ver_1"),
    ]


def test_a_rollback_is_followed_until_it_is_live(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    """The service returns only the latest and the live version."""
    older = wire.version(
        versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago(seconds=5)
    )
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = open_history(as_viewer)
    assert "Publishing version 0" in page.text
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    clock.advance(3)
    assert not page.refresh().is_moving
    assert "Publishing version 0" not in page.text


def test_a_failed_read_is_reported_and_repeated(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    fake_service.fails(httpx.ConnectError)
    clock.advance(3)
    assert "Refresh failed." in page.refresh().text
    assert page.is_moving


def test_a_refresh_makes_few_queries(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    page = open_history(as_viewer)
    with django_assert_max_num_queries(12):
        page.refresh()
