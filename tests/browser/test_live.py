"""What others do appears on open pages by itself, in place."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import (
    HIDE,
    JITTER,
    NOTE_ANNOUNCEMENTS,
    POLL,
    follow,
    log_in,
    new_profile,
    open_page,
    settle,
    until,
)
from tests.support.processes import Running

LIST = "/audiences/?live=changed"
UNTOUCHED = "/audiences/?live=live&sort=name"
"""A list of audiences that no other test publishes."""
WAIT_S, IN_TIME_S = 10, 13
"""The wait that the server names for a page in use, and how soon a change must be shown there."""
MOVING_WAIT_S, MOVING_IN_TIME_S = 3, 5
"""The same with something in progress on the screen."""
A_POLL_S = 1
"""Generous time for a poll and for the regions that it makes the page fetch."""
NOTE_POLLS = """window.polls = 0;
document.addEventListener("pressroom:topics", () => window.polls++);
Math.random = () => 0.999"""
"""Counts polls, and makes the page wait for as long as it ever does."""
READ_SINCE = "(before) => window.polls > before && !document.querySelector('[data-stale]')"
"""Whether the page has polled, has read what changed, and so has set its next wait."""
AGE = """(cells) => {
  for (const cell of cells) cell.textContent = "Earlier";
  const poll = document.getElementById("live-poll");
  poll.dataset.url = poll.dataset.url.replace(/since=[^&]*/, "since=earlier");
}"""
"""Makes cells of a page older than the server's, so that its next poll changes them."""
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
    # The form asks "Publish version 4?", its result doesn't.
    expect(page.get_by_role("dialog").get_by_role("heading", level=1)).not_to_contain_text("?")


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
    follow(page, changed.locator("[data-was]", has_text="by publisher"))
    follow(page, page.locator("[data-waiting]", has_text="1 changed or new."))
    assert page.evaluate(POSITIONS) == before, "no row moved, came or went"
    expect(page.locator("[data-selected-count]").first).to_have_text("4")
    for number in selected:
        expect(boxes.nth(number)).to_be_checked()
    assert page.evaluate("document.activeElement.value") == focused

    page.locator("[data-waiting]").get_by_role("link", name="Show").click()
    expect(changed).to_have_count(0)
    expect(page.locator("[data-waiting]")).to_be_hidden()


def test_many_changed_rows_are_announced_once_as_a_number(page: Page) -> None:
    page.add_init_script(NOTE_ANNOUNCEMENTS)
    log_in(page, to=UNTOUCHED)
    page.locator(f"{ROWS}:nth-child(-n + 4) [data-label='Live status']").evaluate_all(AGE)
    page.evaluate(POLL)
    # The list may still load audiences, which it announces, too.
    until(page, lambda: " rows updated." in page.evaluate("window.announced.join()"))
    announced = page.evaluate("window.announced")
    assert [text for text in announced if "updated" in text] == ["4 rows updated."]


def test_a_first_page_takes_on_the_browsers_time_zone_without_a_mark(page: Page) -> None:
    page.add_init_script(NOTE_ANNOUNCEMENTS)
    log_in(page, to=UNTOUCHED)
    first = page.locator(f"{ROWS} time").first
    expect(first).to_have_attribute("title", re.compile("UTC$"))
    page.evaluate(POLL)
    expect(first).to_have_attribute("title", re.compile("CES?T$"))
    expect(page.locator(f"{ROWS}[data-fresh]")).to_have_count(0)
    assert "updated" not in page.evaluate("window.announced.join()")


def test_a_list_that_is_fetched_as_a_whole_includes_its_marks(page: Page) -> None:
    log_in(page, to=UNTOUCHED)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.locator("[data-rows] [id^=here-]").evaluate_all(AGE)
    page.evaluate(POLL)
    expect(page.locator("[data-rows] [id^=here-]", has_text="Earlier")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    assert [url for url in sent if "/live/here/" in url] == []


def test_a_click_during_an_update_reaches_what_it_began_on(page: Page) -> None:
    log_in(page, to=UNTOUCHED)
    row = page.locator(ROWS).nth(2)
    box, link = row.locator("input[type=checkbox]"), row.locator("th a").first
    audience = link.get_attribute("href")
    for target in (box, link):
        target.hover()
        page.mouse.down()
        row.locator("[data-label='Live status']").evaluate_all(AGE)
        page.evaluate(POLL)
        expect(row).not_to_contain_text("Earlier")
        page.mouse.up()
        if target is box:
            expect(box).to_be_checked()
    page.wait_for_url(f"**{audience}")


def test_an_open_audience_and_the_log_follow_a_colleague(
    context: BrowserContext, page: Page, other: Page, troubles: list[str]
) -> None:
    log_in(page, to=LIST)
    _, audience = find_publishable(page, other, start=7)
    page.goto(audience)
    page.evaluate("window.isSamePage = true")
    log = log_in(open_page(context, troubles), to="/activity/")
    newest = log.locator(ROWS).first.get_attribute("id")
    version = publish_links(other).first.inner_text().removeprefix("Publish version ")
    publish(other)
    follow(log, log.locator("[data-waiting]", has_text="changed or new."))
    assert log.locator(ROWS).first.get_attribute("id") == newest
    only_live = page.locator("#head-state:not(:has(.badge ~ .badge))")
    follow(page, only_live.filter(has_text=f"Version {version} live"))
    assert page.evaluate("window.isSamePage")


def poll_now(page: Page) -> int:
    """Let a page poll; return how long it then waits, in seconds. A busy server doubles that."""
    before = page.evaluate("window.polls")
    with page.expect_response("**/live/?*") as response:
        page.evaluate(POLL)
    until(page, lambda: page.evaluate(READ_SINCE, before))
    return int(response.value.headers["x-poll-interval"])


def test_a_change_appears_within_thirteen_seconds(timed_page: Page, other: Page) -> None:
    page = timed_page
    page.add_init_script(NOTE_POLLS)
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    log_in(page, to=LIST)
    row, _ = find_publishable(page, other, start=6)
    changed = page.locator(ROWS).nth(row)
    expect(changed).to_contain_text("Draft")
    wait_s = poll_now(page)
    publish(other)
    page.clock.run_for(int(wait_s * JITTER * 1000))
    expect(changed).not_to_contain_text("Draft")
    assert wait_s in (WAIT_S, 2 * WAIT_S)
    assert WAIT_S * JITTER + A_POLL_S <= IN_TIME_S


def test_what_is_in_progress_is_polled_within_five_seconds(timed_page: Page) -> None:
    page = timed_page
    page.add_init_script(NOTE_POLLS)
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    log_in(page, to=LIST)
    page.locator("h1").evaluate("(heading) => (heading.dataset.soon = '')")
    wait_s = poll_now(page)
    with page.expect_request("**/live/?*moving=1*"):
        page.clock.run_for(int(wait_s * JITTER * 1000))
    assert wait_s in (MOVING_WAIT_S, 2 * MOVING_WAIT_S)
    assert MOVING_WAIT_S * JITTER + A_POLL_S <= MOVING_IN_TIME_S


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


def test_a_page_that_loses_its_poll_stops_polling(timed_page: Page) -> None:
    page = timed_page
    page.add_init_script(NOTE_POLLS)
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    log_in(page, to=UNTOUCHED)
    poll_now(page)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.locator("#live-poll").evaluate("(poll) => poll.remove()")
    page.clock.run_for(10 * 60_000)
    page.evaluate(POLL)
    page.wait_for_load_state("networkidle")
    assert sent == []


def test_a_page_whose_clock_is_off_shows_the_same(timed_page: Page, other: Page) -> None:
    timed_page.clock.set_system_time(datetime.now(UTC) - timedelta(hours=7))
    log_in(timed_page, to=LIST)
    row, _ = find_publishable(timed_page, other, start=4)
    row_id = timed_page.locator(ROWS).nth(row).get_attribute("id")
    publish(other)
    changed = timed_page.locator(f"#{row_id}")
    follow(timed_page, changed.locator("[data-was]", has_text="by publisher"))
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
    follow(settings, line.filter(has_text="1 changed or new."))
    assert rows.count() == before
    line.get_by_role("link", name="Show").click()
    added = rows.filter(has_text="Quiet channel")
    expect(added.locator(".badge")).to_have_text("On")
    other.get_by_role("checkbox", name="On While").uncheck()
    other.get_by_role("button", name="Save webhook").click()
    follow(settings, added.locator(".badge", has_text="Off"))
    other.get_by_role("link", name="Delete").click()
    other.get_by_role("button", name="Delete").click()
    follow(settings, line.filter(has_text="1 changed or new."))
