"""Dates from a service whose clock differs from ours."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from django.test import Client

from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import page_text

VERSIONS = "/pages/page_1/audiences/aud_1/versions/"
Serve = Callable[..., None]


@pytest.fixture
def serve(fake_service: FakeService) -> Serve:
    """Return a function that sets the service's latest version and how far its clock is ahead."""

    def serve(*, ahead: timedelta | None = None, **latest: Any) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            audience = wire.audience(latestVersion=wire.version(**latest))
            body = wire.envelope(audience) if request.url.path.endswith("s") else wire.page()
            headers = {}
            if ahead is not None:
                headers["date"] = format_datetime(datetime.now(UTC) + ahead, usegmt=True)
            return httpx.Response(200, json=body, headers=headers)

        fake_service.answer = answer

    return serve


def text_of(client: Client, url: str = VERSIONS) -> str:
    return page_text(client, url)


def overview(client: Client) -> str:
    client.get("/pages/page_1/")  # the overview of an empty ledger lists nothing
    return text_of(client, "/")


def from_now(**duration: float) -> str:
    return (datetime.now(UTC) + timedelta(**duration)).isoformat()


@pytest.mark.parametrize(
    ("ahead", "note"),
    [
        # `Date` has whole seconds.
        (timedelta(minutes=12, seconds=5), "The service’s clock is 12 min 0"),
        (timedelta(hours=-2), "The service’s clock is 2 h 00 min behind."),
    ],
)
def test_dates_are_compared_with_the_services_own_clock(
    as_viewer: Client, serve: Serve, ahead: timedelta, note: str
) -> None:
    queued_at = datetime.now(UTC) + ahead - timedelta(minutes=3, seconds=20)
    serve(ahead=ahead, status="queued", queuedAt=queued_at.isoformat())
    seen = text_of(as_viewer)
    assert "Publishing version 2 (3 min)" in seen
    assert "In queue for 3 min" in seen
    assert note in seen
    assert "in the future" not in seen
    assert note in overview(as_viewer)
    # By the service's own clock, it isn't late.
    assert "Queued Version 2" not in overview(as_viewer)


def test_clocks_that_agree_are_not_mentioned(as_viewer: Client, serve: Serve) -> None:
    serve(ahead=timedelta(seconds=3), status="queued", queuedAt=from_now(seconds=2))
    assert "clock" not in text_of(as_viewer)


@pytest.mark.parametrize(
    ("queued_at", "ahead"),
    [({"minutes": 12}, "12 min"), ({"days": 3}, "3 days 0 h"), ("9999-12-31T23:59:59Z", "days")],
)
def test_a_future_queue_time_counts_from_first_seen(
    as_viewer: Client, serve: Serve, queued_at: Any, ahead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued_at = queued_at if isinstance(queued_at, str) else from_now(**queued_at)
    serve(status="queued", queuedAt=queued_at)
    seen = text_of(as_viewer)
    assert "queuedAt is in the future, by" in seen
    assert ahead in seen
    assert "In queue for" not in seen
    clock = stopped(monkeypatch)
    clock.advance(20 * 60)
    serve(status="processing", queuedAt=queued_at)
    text_of(as_viewer)
    clock.advance(60)
    assert "In progress for 21 min" in overview(as_viewer)


def test_a_negative_duration_is_named(as_viewer: Client, serve: Serve) -> None:
    serve(
        status="published",
        queuedAt=from_now(minutes=-5),
        publishedAt=from_now(minutes=-9),
        queueDurationMs=-240_000,
    )
    seen = text_of(as_viewer)
    assert "publishedAt is before queuedAt." in seen
    assert "queueDurationMs is negative: -240000." in seen
