"""The receiver of a real server: a user turns it on, anyone with the URL writes to it."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ReusedProfile, log_in, open_page

PUBLISHED = {"type": "page.version.published", "data": {"audienceId": "aud_of_the_browser"}}


@pytest.fixture
def page(services_profile: ReusedProfile, troubles: list[str]) -> Iterator[Page]:
    """An administrator's tab with a receiver that, unlike the demo's, requires no signatures."""
    yield log_in(open_page(services_profile.open(), troubles), "root", to="/hooks/")
    services_profile.empty()
    assert troubles == []


def switched_on(page: Page) -> str:
    """Turn the receiver on if it is off, and return its URL."""
    if page.get_by_role("button", name="Turn on").count():
        page.get_by_role("button", name="Turn on").click()
    copy = page.get_by_role("button", name="Copy the receiver URL")
    return copy.get_attribute("data-copy") or ""


def test_a_delivery_is_listed_and_shown(page: Page) -> None:
    address = switched_on(page)
    sent = httpx.post(
        address, json=PUBLISHED, headers={"Authorization": "Bearer of a secret"}, timeout=60
    )
    assert sent.status_code == 200
    with page.expect_navigation():
        page.get_by_role("link", name="Refresh").click()
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("page.version.published")
    first.get_by_role("link").click()
    expect(page.locator(".code")).to_contain_text('"audienceId": "aud_of_the_browser"')
    expect(page.get_by_text("redacted (18 characters)")).to_be_visible()


def test_only_a_finite_body_needs_no_length(page: Page) -> None:
    address = switched_on(page)

    def pieces(count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield b"x" * 65_536

    assert httpx.post(address, content=pieces(2), timeout=60).status_code == 200
    assert httpx.post(address, content=pieces(64), timeout=60).status_code == 413
    page.reload()
    expect(page.locator("tbody tr").first).to_contain_text("128.0\xa0KB")


def test_a_replaced_url_returns_404(page: Page) -> None:
    old = switched_on(page)
    page.get_by_text("Replace URL").first.click()
    page.get_by_role("button", name="Replace URL").click()
    expect(page.locator("#messages")).to_contain_text("URL replaced.")
    assert httpx.post(old, json={}, timeout=60).status_code == 404
