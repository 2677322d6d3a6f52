"""Finding anything with the mouse unplugged, and sharing what was found."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.addresses import execute
from tests.browser.conftest import log_in, settle
from tests.support.processes import Running

WITH_TWO_VERSIONS = """SELECT audience_id, name FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id != '' ORDER BY audience_id DESC LIMIT 1"""


def tab_to(page: Page, words: str) -> None:
    """Press Tab until the text of the focused element begins with these words."""
    for _ in range(60):
        page.keyboard.press("Tab")
        message = page.evaluate("document.activeElement.textContent.trim()")
        if message.startswith(words):
            return
    raise AssertionError(f"Tab never came to {words!r}.")


def test_an_id_leads_to_audience_and_comparison(page: Page, server: Running) -> None:
    [[audience_id, name]] = execute(server, WITH_TWO_VERSIONS)
    log_in(page, to="/webhooks/")
    page.keyboard.press("Control+k")
    page.keyboard.type(audience_id)
    expect(page.locator("#palette").get_by_role("option").first).to_contain_text(name)
    page.keyboard.press("Enter")
    expect(page.locator("main").get_by_role("heading", level=1)).to_have_text(name)
    page.wait_for_load_state()
    tab_to(page, "Compare")
    page.keyboard.press("Enter")
    page.wait_for_url("**/versions/compare/?from=*&to=*")
    expect(page.locator("main").get_by_role("heading", level=1)).to_contain_text("Compare")


def test_filters_survive_back_and_another_browser(
    page: Page, browser: Browser, server: Running
) -> None:
    log_in(page, to="/pages/")
    tab_to(page, "Status")  # past the navigation, which has a link "Audiences"
    tab_to(page, "Audiences")
    page.keyboard.press("Enter")
    changed = page.get_by_role("checkbox", name="Unpublished changes")
    expect(page.locator("#n-flag-changed")).not_to_be_empty()
    changed.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Remove filter: Audiences")).to_be_visible()
    settle(page)
    expect(page.locator("#coverage")).to_contain_text(re.compile(r"\d of\s+\d+ pages"))
    page.keyboard.press("Escape")
    locator = page.locator("#rows tr th a").all_text_contents()
    assert len(locator) == int(page.locator("#n-flag-changed").inner_text())
    page.locator("#rows tr th a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("main").get_by_role("heading", level=1)).to_have_text(locator[0])
    page.go_back()  # stands for the browser's shortcut, which a headless browser lacks
    expect(page.locator("#rows tr")).to_have_count(len(locator))
    expect(page).to_have_url(re.compile(r"/pages/\?flag=changed$"))
    other = browser.new_context(base_url=server.url)
    theirs = log_in(other.new_page(), "viewer", to="/pages/?flag=changed")
    assert theirs.locator("#rows tr th a").all_text_contents() == locator
    other.close()
