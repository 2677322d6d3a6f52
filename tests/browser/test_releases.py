"""A release is reviewed by keys alone, published, and watched until all of it is live."""

import re
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.addresses import database_of, execute
from tests.browser.barriers import barriers
from tests.browser.conftest import PATIENCE_S, new_profile, settle, sign_in
from tests.browser.more_releases import add_draft
from tests.browser.planned import see_releases_end
from tests.support.processes import Running

PATIENCE_MS = PATIENCE_S * 1000
NAME = "By keys alone"
DRAFTS = """SELECT page_id, audience_id FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id != '' AND archived = 0
    AND audience_id NOT IN (SELECT audience_id FROM releases_releaseitem)
  ORDER BY audience_id DESC LIMIT 3"""


@pytest.fixture(scope="module")
def profile(browser: Browser, server: Running) -> Iterator[BrowserContext]:
    """A profile that is logged in."""
    with new_profile(browser, server.url) as context:
        sign_in(context)
        yield context


@pytest.fixture(scope="module")
def page(profile: BrowserContext) -> Page:
    return profile.new_page()


@pytest.fixture
def board(page: Page, server: Running) -> Page:
    """The board of a checked draft with three audiences."""
    page.goto(f"/releases/{add_draft(database_of(server), NAME, 3)}/")
    return page


def create_release(page: Page, server: Running) -> None:
    """Create a release of three audiences in the form, and wait until a worker has checked it."""
    keys = execute(server, DRAFTS)
    audiences = ["/".join(quote(part, safe="") for part in key) for key in keys]
    page.goto(f"/releases/new/?{urlencode([('audience', audience) for audience in audiences])}")
    page.locator("#name").fill("Watched until it is live")
    page.locator("main form .primary").click()
    expect(page.locator("#check")).to_contain_text("Checked", timeout=PATIENCE_MS)


def test_going_back_leaves_no_draft_and_keeps_the_selection(page: Page) -> None:
    page.goto("/audiences/?live=changed")
    for number in (0, 1):
        page.locator("tbody input[name=audience]").nth(number).check()
    page.locator("[data-selection-bar] button[value=review]").click()
    expect(page.locator("#release")).to_contain_text("Not saved yet.")
    board = page.url.partition("?")[0]
    with page.expect_response(f"{board}discard/"):
        page.go_back()
    expect(page.locator("[data-selection-bar] [data-selected-count]").first).to_have_text("2")
    response = page.goto(board)
    assert response
    assert response.status == 404


def test_versions_are_reviewed_by_keys_alone(board: Page) -> None:
    heading, marked = board.locator("#item-h"), board.locator(".entries [aria-current]")
    first = heading.text_content()
    board.keyboard.press("j")
    expect(heading).not_to_have_text(first or "")
    expect(marked).to_contain_text(heading.text_content() or "")
    board.keyboard.press("k")
    expect(heading).to_have_text(first or "")
    for count in (1, 2, 3):
        board.keyboard.press("m")
        expect(board.locator("#reviewed")).to_contain_text(f"{count} of 3 reviewed")
    expect(board.locator("#totals")).to_contain_text("All reviewed")
    assert barriers(board) == []


def test_a_version_of_the_list_opens_beside_it(board: Page) -> None:
    board.evaluate("() => { window.isSamePage = true }")
    steps = board.evaluate("history.length")
    entry = board.locator(".entries a").nth(1)
    entry.click()
    expect(board.locator(".detail header")).to_contain_text("2 of 3")
    expect(entry).to_have_attribute("aria-current", "true")
    expect(board).to_have_url(re.compile(r"\?item=\d+$"))
    assert board.evaluate("[window.isSamePage, history.length]") == [True, steps]


def test_the_open_item_survives_a_reload(board: Page) -> None:
    board.keyboard.press("j")
    expect(board.locator(".detail header")).to_contain_text("2 of 3")
    board.reload()
    expect(board.locator(".detail header")).to_contain_text("2 of 3")


def test_a_release_is_watched_until_it_is_live(page: Page, server: Running) -> None:
    create_release(page, server)
    if page.locator("#typed").count():
        page.locator("#typed").fill("3")
    page.get_by_role("button", name="Publish 3 now").click()
    settle(page)
    assert barriers(page) == []
    see_releases_end(page, server)
    expect(page.get_by_role("heading", name="3 of 3 went live")).to_be_visible()
    assert barriers(page) == []


def test_the_agenda_is_filtered_by_state_and_owner(page: Page, server: Running) -> None:
    board = page
    add_draft(database_of(server), NAME, 3)
    board.goto("/releases/")
    board.evaluate("() => { window.isSamePage = true }")
    board.get_by_label("State").select_option("Drafts")
    expect(board).to_have_url(re.compile("state=drafts"))
    expect(board.locator("#results")).to_contain_text(NAME)
    board.get_by_label("Owner").select_option(index=1)
    expect(board).to_have_url(re.compile(r"state=drafts&owner=\w+"))
    assert board.evaluate("window.isSamePage")
