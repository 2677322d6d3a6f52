"""An operator publishes eight versions, of which two do not go live, and rolls them back."""

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import PATIENCE_S, new_profile, open_page, settle, sign_in
from tests.support.dashboards import Dashboard, over_http
from tests.support.many_audiences import Key
from tests.support.processes import Running
from tests.support.release_service import PublishingAudiences, fails, responds

COUNT, REJECTED, UNKNOWN, SLOW = 8, "aud_3", "aud_5", "aud_6"
RUN_MS = 120_000
"""A worker reads the service every five seconds, and each release several times."""


class SlowService(PublishingAudiences):
    """Rejects one version, drops the connection of another, and makes one wait for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = Event()
        self.ways = {
            REJECTED: responds(409, "It is locked by an agent"),
            UNKNOWN: fails(httpx.ReadError, is_carried_out=False),
            SLOW: self.wait,
        }

    def record(self) -> None:
        """Record nothing: the dashboard has a database of its own."""

    def wait(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Accept a version once the test goes on."""
        assert self.go_on.wait(PATIENCE_S)
        return httpx.Response(200, json=self.carry_out(key, version_id))

    @property
    def live_numbers(self) -> dict[str, int]:
        """The number of the live version of each audience."""
        found = {key[1]: each["publishedVersion"] for key, each in self.audiences.items()}
        return {audience_id: version["versionNumber"] for audience_id, version in found.items()}


@pytest.fixture
def slow_service() -> SlowService:
    """A service with eight audiences, each with a draft over a live version."""
    service = SlowService()
    service.add(COUNT)
    return service


@pytest.fixture
def worked(slow_service: SlowService, tmp_path: Path) -> Iterator[Running]:
    """A dashboard with a worker, in front of that service."""
    with over_http(slow_service) as url:
        dashboard = Dashboard(tmp_path, url)
        dashboard.prepare()
        with dashboard.started(has_worker=True) as running:
            yield running


@pytest.fixture
def operator(browser: Browser, worked: Running) -> Iterator[BrowserContext]:
    """A profile that is logged in there."""
    with new_profile(browser, worked.url) as context:
        sign_in(context, "root")
        yield context


def publish(page: Page, count: int) -> None:
    """Publish a release from its board, with the number typed if it has to be."""
    expect(page.locator("#check")).to_contain_text("Checked", timeout=RUN_MS)
    if page.locator("#typed").count():
        page.locator("#typed").fill(str(count))
    page.get_by_role("button", name=f"Publish {count} now").click()


def row(page: Page, audience_id: str) -> str:
    """Return the text of the row of an audience."""
    found = page.get_by_role("row").filter(has_text=re.compile(rf"Name of {audience_id}\b"))
    return " ".join(found.inner_text().split())


def test_what_went_live_is_taken_back_and_what_did_not_is_named(
    operator: BrowserContext, slow_service: SlowService, troubles: list[str]
) -> None:
    page = open_page(operator, troubles)
    page.goto("/pages/page_1/")
    audiences = "&".join(f"audience=page_1/aud_{number}" for number in range(1, COUNT + 1))
    page.goto(f"/releases/new/?{audiences}")
    page.locator("#name").fill("Eight")
    page.get_by_role("button", name="Create release").click()
    publish(page, COUNT)

    expect(page.locator("#progress-h")).to_contain_text(f"6 of {COUNT} sent", timeout=RUN_MS)
    assert "Sending" in row(page, SLOW)
    assert "Failed The service returned 409: It is locked by an agent." in row(page, REJECTED)
    assert barriers(page) == []
    slow_service.go_on.set()
    heading = page.get_by_role("heading", name=f"6 of {COUNT} went live")
    expect(heading).to_be_visible(timeout=RUN_MS)
    expect(page.locator("h1 + .badge")).to_have_text("Finished, 1 outcome unknown")
    attention = page.locator("#group-attention")
    expect(attention.get_by_role("rowheader", name="Needs attention 2")).to_be_visible()
    assert "Outcome unknown" in row(page, UNKNOWN)
    assert slow_service.live_numbers == {
        f"aud_{number}": 1 if number in (3, 5) else 2 for number in range(1, COUNT + 1)
    }
    assert barriers(page) == []

    retry = page.get_by_role("region", name="Failed versions")
    expect(retry).to_contain_text("1 of 1 failed version can be retried.")
    expect(retry.get_by_role("listitem")).to_contain_text("Name of aud_5 Its outcome is unknown.")
    expect(retry.get_by_role("button", name="Retry failed")).to_be_visible()
    expect(page.get_by_text("6 of 6 live versions can be rolled back.")).to_be_visible()
    page.get_by_role("button", name="Review rollback of 6…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Roll back: Eight")
    left_out = page.locator(".messages, [role=status], [role=alert]").filter(has_text="left out")
    expect(left_out.first).to_contain_text("Name of aud_3: It failed, so nothing changed.")
    expect(left_out.first).to_contain_text("Name of aud_5: Left out until its outcome is known.")
    settle(page)
    assert barriers(page) == []
    publish(page, 6)
    expect(page.get_by_role("heading", name="6 of 6 went live")).to_be_visible(timeout=RUN_MS)
    page.get_by_role("link", name="Eight", exact=True).click()
    expect(page.locator("header.head")).to_contain_text("Rolled back by Roll back: Eight")
    assert set(slow_service.live_numbers.values()) == {1}
    assert len(set(slow_service.operation_keys)) == COUNT + 6
    assert troubles == []
