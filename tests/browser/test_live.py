"""What others do appears on open pages by itself, in place."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in, new_profile, open_page, settle
from tests.support.processes import Running

LIVE_MS = 60_000
"""A machine on which many tests run at once takes its time."""
LIST = "/audiences/?live=changed"
ROWS = "[data-rows] > [id]"
POSITIONS = f"""() => [...document.querySelectorAll("{ROWS}")]
  .map((row) => [row.id, row.getBoundingClientRect().top])"""


@pytest.fixture
def other(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """A tab of another person."""
    with new_profile(browser, server.url) as context:
        yield log_in(open_page(context, troubles), "publisher", to="/health/live")


def publish(page: Page, audience: str) -> None:
    """Publish the latest version of an audience by the dialog over its page."""
    page.goto(audience)
    page.locator("main a[hx-target='#dialogs']", has_text="Publish version").first.click()
    page.get_by_role("dialog").locator("button[type=submit]", has_text="Publish version").click()
    expect(page.get_by_role("dialog").get_by_role("heading", level=1)).to_contain_text("ersion")


def test_a_selected_row_changes_in_place(page: Page, other: Page) -> None:
    log_in(page, to=LIST)
    settle(page)
    row = page.locator(ROWS).nth(2)
    row_id, link = row.get_attribute("id"), row.locator("th a").first.get_attribute("href")
    boxes = page.locator(f"{ROWS} input[type=checkbox]")
    for number in (1, 2, 4, 5):
        boxes.nth(number).check()
    boxes.nth(4).focus()
    focused, before = boxes.nth(4).input_value(), page.evaluate(POSITIONS)
    assert link

    publish(other, link)

    changed = page.locator(f"#{row_id}")
    expect(changed).to_contain_text("Live", timeout=LIVE_MS)
    expect(page.locator("[data-waiting]")).to_contain_text("1 changed or new.", timeout=LIVE_MS)
    assert page.evaluate(POSITIONS) == before, "no row moved, came or went"
    expect(page.locator("[data-selected-count]").first).to_have_text("4")
    for number in (1, 2, 4, 5):
        expect(boxes.nth(number)).to_be_checked()
    assert page.evaluate("document.activeElement.value") == focused

    page.locator("[data-waiting]").get_by_role("link", name="Show").click()
    expect(changed).to_have_count(0)
    expect(page.locator("[data-waiting]")).to_be_hidden()


def test_an_open_audience_follows_a_colleague(page: Page, other: Page) -> None:
    log_in(page, to=LIST)
    link = page.locator(ROWS).nth(7).locator("th a").first.get_attribute("href")
    assert link
    page.goto(link)
    page.evaluate("window.isSamePage = true")
    publish(other, link)
    expect(page.locator("#head-state .badge")).to_have_count(1, timeout=LIVE_MS)
    expect(page.locator("#head-state")).to_contain_text("live")
    assert page.evaluate("window.isSamePage")
