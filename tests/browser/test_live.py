"""What others do appears on open pages by itself, in place."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import HIDE, log_in, new_profile, open_page, settle
from tests.support.processes import Running

LIVE_MS = 60_000
"""Generous, because many tests run at once."""
LIST = "/audiences/?live=changed"
NOTIFICATIONS = "/accounts/settings/notifications/"
ROWS = "[data-rows] > [id]"
POSITIONS = f"""() => [...document.querySelectorAll("{ROWS}")]
  .map((row) => [row.id, row.getBoundingClientRect().top])"""


@pytest.fixture
def other(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """Another person's tab."""
    with new_profile(browser, server.url) as context:
        yield log_in(open_page(context, troubles), "publisher", to="/health/live")


def find_publishable(listed: Page, other: Page, *, start: int) -> tuple[int, str]:
    """Return the number of a row, from `start`, and its audience's URL: one that can be published.

    Others wait for an approval or are in progress. Leaves `other` on the page of the audience.
    """
    rows = listed.locator(ROWS)
    for number in range(start, rows.count() - 5):
        audience = rows.nth(number).locator("th a").first.get_attribute("href")
        assert audience
        other.goto(audience)
        if publish_links(other).count():
            return number, audience
    raise AssertionError("no audience can be published")


def publish_links(page: Page) -> Locator:
    return page.locator("main a[hx-target='#dialogs']", has_text="Publish version")


def publish(page: Page) -> None:
    """Publish the latest version of the audience whose page is open, in the dialog over it."""
    publish_links(page).first.click()
    page.get_by_role("dialog").locator("button[type=submit]", has_text="Publish version").click()
    expect(page.get_by_role("dialog").get_by_role("heading", level=1)).to_contain_text("ersion")


def test_a_selected_row_changes_in_place(page: Page, other: Page) -> None:
    log_in(page, to=LIST)
    settle(page)
    row, _ = find_publishable(page, other, start=2)
    row_id = page.locator(ROWS).nth(row).get_attribute("id")
    boxes = page.locator(f"{ROWS} input[type=checkbox]")
    selected = (row - 1, row, row + 2, row + 3)
    for number in selected:
        boxes.nth(number).check()
    boxes.nth(row + 2).focus()
    focused, before = boxes.nth(row + 2).input_value(), page.evaluate(POSITIONS)

    publish(other)

    changed = page.locator(f"#{row_id}")
    expect(changed.locator("[data-was]")).to_contain_text("publisher published", timeout=LIVE_MS)
    expect(page.locator("[data-waiting]")).to_contain_text("1 changed or new.", timeout=LIVE_MS)
    assert page.evaluate(POSITIONS) == before, "no row moved, came or went"
    expect(page.locator("[data-selected-count]").first).to_have_text("4")
    for number in selected:
        expect(boxes.nth(number)).to_be_checked()
    assert page.evaluate("document.activeElement.value") == focused

    page.locator("[data-waiting]").get_by_role("link", name="Show").click()
    expect(changed).to_have_count(0)
    expect(page.locator("[data-waiting]")).to_be_hidden()


def test_an_open_audience_and_the_log_follow_a_colleague(
    context: BrowserContext, page: Page, other: Page, troubles: list[str]
) -> None:
    log_in(page, to=LIST)
    _, audience = find_publishable(page, other, start=7)
    page.goto(audience)
    page.evaluate("window.isSamePage = true")
    log = log_in(open_page(context, troubles), to="/activity/")
    newest = log.locator(ROWS).first.get_attribute("id")
    publish(other)
    expect(log.locator("[data-waiting]")).to_contain_text("changed or new.", timeout=LIVE_MS)
    assert log.locator(ROWS).first.get_attribute("id") == newest
    expect(page.locator("#head-state .badge")).to_have_count(1, timeout=LIVE_MS)
    expect(page.locator("#head-state")).to_contain_text("live")
    assert page.evaluate("window.isSamePage")


def test_a_hidden_page_sends_nothing(timed_page: Page) -> None:
    page = timed_page
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    log_in(page, to=LIST)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate(HIDE, True)
    page.clock.run_for(10 * 60_000)
    assert sent == []
    with page.expect_request("**/live/?*"):
        page.evaluate(HIDE, False)


def test_a_page_whose_clock_is_off_shows_the_same(timed_page: Page, other: Page) -> None:
    timed_page.clock.set_system_time(datetime.now(UTC) - timedelta(hours=7))
    log_in(timed_page, to=LIST)
    row, _ = find_publishable(timed_page, other, start=4)
    row_id = timed_page.locator(ROWS).nth(row).get_attribute("id")
    publish(other)
    changed = timed_page.locator(f"#{row_id}")
    expect(changed.locator("[data-was]")).to_contain_text("publisher published", timeout=LIVE_MS)
    age = changed.locator("[data-age]")
    expect(age).to_have_count(1)
    expect(age).not_to_contain_text(" h")


def test_webhooks_of_a_team_follow_another_administrator(
    context: BrowserContext, page: Page, troubles: list[str]
) -> None:
    settings = log_in(page, to=NOTIFICATIONS)
    rows = settings.locator("#team-targets > li")
    before = rows.count()
    other = open_page(context, troubles)
    other.goto(f"{NOTIFICATIONS}webhooks/new/?team=1")
    other.get_by_label("Name").fill("Quiet channel")
    other.get_by_label("URL").fill("https://hooks.example.com/quiet")
    other.get_by_role("button", name="Add webhook").click()
    line = settings.locator("#team-webhooks [data-waiting]")
    expect(line).to_contain_text("1 changed or new.", timeout=LIVE_MS)
    assert rows.count() == before
    line.get_by_role("link", name="Show").click()
    added = rows.filter(has_text="Quiet channel")
    expect(added.locator(".badge")).to_have_text("On")
    other.get_by_role("checkbox", name="On While").uncheck()
    other.get_by_role("button", name="Save webhook").click()
    expect(added.locator(".badge")).to_have_text("Off", timeout=LIVE_MS)
    other.get_by_role("link", name="Delete").click()
    other.get_by_role("button", name="Delete").click()
    expect(line).to_contain_text("1 changed or new.", timeout=LIVE_MS)
