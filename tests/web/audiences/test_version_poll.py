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
from tests.support.html import Element, elements, text
from tests.support.one_audience import address, serve

pytestmark = pytest.mark.django_db

PART = {"HX-Request": "true", "HX-Target": "watch"}


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def queued(**differs: Any) -> dict[str, Any]:
    return wire.version(status="queued", queuedAt=ago(seconds=20)) | differs


def shown(client: Client, at: str = "", **headers: str) -> str:
    answer = client.get(at or address("version-list"), headers=headers or None)
    assert answer.status_code == 200
    return answer.content.decode()


def watch_in(page: str) -> Element | None:
    return next((e for e in elements(page) if e.attributes.get("id") == "watch"), None)


def poll_url(page: str) -> str:
    watch = watch_in(page)
    assert watch
    return watch.attributes.get("hx-get", "")


@pytest.mark.parametrize("latest", [wire.version(), wire.version(status="cancelled")])
def test_nothing_in_progress_is_not_polled(
    latest: dict[str, Any], fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=latest))
    watch = watch_in(shown(as_viewer))
    assert watch
    assert watch.attributes["hx-trigger"] == "again, version-published from:body"


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_a_version_in_progress_is_polled(
    status: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(status=status)))
    page = shown(as_viewer)
    assert re.search(r"Publishing version 2 \(2\d s\)\. Updates automatically\.", text(page))
    assert poll_url(page)


@pytest.mark.parametrize(
    ("waited", "delay"),
    [({"seconds": 1}, "1s"), ({"seconds": 25}, "5s"), ({"minutes": 10}, "10s")],
)
def test_the_longer_it_takes_the_less_often_it_is_polled(
    waited: dict[str, float], delay: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(queuedAt=ago(**waited))))
    watch = watch_in(shown(as_viewer))
    assert watch
    assert f"load delay:{delay}, again" in watch.attributes["hx-trigger"]


@pytest.mark.parametrize(("since", "delay"), [(None, "10s"), ("2026-03-01T09:00:00Z", "60s")])
def test_an_old_or_undated_version_is_polled_rarely_and_not_forever(
    since: str | None, delay: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued(queuedAt=since)))
    page = shown(as_viewer)
    for _ in range(MAX_POLLS):
        assert f"load delay:{delay}, again" in page
        page = shown(as_viewer, poll_url(page).replace("&amp;", "&"), **PART)
    assert "load delay" not in page
    assert "Auto-refresh stopped." in text(page)


def test_a_poll_without_changes_returns_no_list(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    fake_service.sent.clear()
    part = shown(as_viewer, at, **PART)
    assert poll_url(part) == at
    assert "Updated " in text(part)
    assert "<ol" not in part
    assert len(fake_service.sent) == 1


def test_a_change_returns_the_list_and_is_announced_once(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    serve(fake_service, wire.audience(latestVersion=queued(status="processing")))
    part = shown(as_viewer, at, **PART)
    assert "Version 2: processing." in text(part)
    assert [e.attributes["id"] for e in elements(part, "li") if "id" in e.attributes] == [
        "row-ver_2",
        "row-ver_1",
    ]
    again = shown(as_viewer, poll_url(part), **PART)
    assert "watch-announcement" not in again


def test_the_end_is_announced_and_polling_stops(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=live, publishedVersion=live))
    part = shown(as_viewer, at, **PART)
    assert "load delay" not in part
    assert "Version 2 is live." in text(part)


def test_selected_versions_stay_selected(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    serve(fake_service, wire.audience(latestVersion=queued(status="processing")))
    part = shown(as_viewer, f"{at}&from=ver_2&to=ver_1", **PART)
    chosen = [e.attributes for e in elements(part, "input") if "checked" in e.attributes]
    assert [(one["name"], one["value"]) for one in chosen] == [("from", "ver_2"), ("to", "ver_1")]


def test_a_rollback_is_polled_until_it_is_live(
    fake_service: FakeService, as_viewer: Client
) -> None:
    """The service shows only the latest and the live version."""
    older = wire.version(
        versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago(seconds=5)
    )
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = shown(as_viewer)
    assert "Publishing version 0" in text(page)
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    part = shown(as_viewer, poll_url(page), **PART)
    assert "load delay" not in part
    assert "Version 0 is live." in text(part)


def test_a_failed_poll_is_reported_and_polling_continues(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    fake_service.fails(httpx.ConnectError)
    part = shown(as_viewer, at, **PART)
    assert "Refresh failed." in text(part)
    assert poll_url(part)


def test_a_poll_makes_few_queries(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, wire.audience(latestVersion=queued()))
    at = poll_url(shown(as_viewer))
    with django_assert_max_num_queries(12):
        shown(as_viewer, at, **PART)
