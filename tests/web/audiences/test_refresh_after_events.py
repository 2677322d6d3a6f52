"""For 3 seconds after any read of a page, open pages get the ledger's state."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.releases.hinted_reads import read_hinted
from dashboard.webhooks.hints import take_hint
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.live_page import BACKGROUND
from tests.support.many_audiences import ManyAudiences

REGIONS = {
    "/pages/page_1/": "audience-results",
    "/pages/page_1/audiences/aud_1/": "audience-head",
    "/pages/page_1/audiences/aud_1/versions/": "history",
}


@pytest.fixture
def calls(as_viewer: Client, fake_service: FakeService, clock: Clock) -> Callable[[], int]:
    """Returns the number of calls since an event caused a read of a page with a queued version."""
    fake_service.answer = service = ManyAudiences()
    service.add(2)
    service.change(("page_1", "aud_1"), latestVersion=service.version(("page_1", "aud_1"), 9))
    take_hint("page_1", "aud_1", timezone.now())
    read_hinted("worker")
    service.paths.clear()
    return lambda: len(service.paths)


@pytest.mark.parametrize("path", REGIONS)
def test_a_refresh_right_after_an_event_calls_nothing(
    calls: Callable[[], int], as_viewer: Client, clock: Clock, path: str
) -> None:
    htmx = BACKGROUND | {"HX-Target": REGIONS[path], "X-Moving": "1"}
    assert as_viewer.get(path, headers=htmx).status_code == 200
    assert calls() == 0
    clock.advance(3)
    as_viewer.get(path, headers=htmx)
    assert calls() == 1


@pytest.mark.parametrize("path", REGIONS)
def test_opening_a_page_reads_it_despite_an_event(
    calls: Callable[[], int], as_viewer: Client, path: str
) -> None:
    assert "9" in as_viewer.get(path).text
    assert calls() >= 1
