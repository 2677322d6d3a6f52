"""The overview in a browser: what is in progress updates by itself."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NEXT_FRAME, log_in, settle, time_passes, until
from tests.browser.planned import go_live
from tests.support.processes import Running


def test_what_is_on_its_way_moves_by_itself(page: Page, server: Running) -> None:
    log_in(page, to="/pages/?q=recycling")
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/pages/*/")
    row = page.locator("main tr", has=page.locator("a[href$='/publish/']:visible")).first
    name = row.locator("th a").inner_text()
    row.locator("a[href$='/publish/']:visible").first.click()
    page.get_by_role("button", name=re.compile("^Publish version")).click()
    expect(page.get_by_role("heading", name=re.compile("^Publishing"))).to_be_visible()
    page.goto("/")
    row = page.locator("#in-flight tbody tr", has_text=name)
    expect(row).to_contain_text(re.compile("Queued|Processing"))
    # Pending versions wait for weeks, so this row stays. The order of the rows may change.
    late = page.locator("#needs-attention li", has_text="Pending").first
    other = page.locator(f"#{late.get_attribute('id')} a.lead")
    other.focus()
    go_live(server)
    expect(row).to_have_count(0)
    expect(page.locator("#in-flight-announcement")).to_contain_text(f"of {name}: published.")
    expect(other).to_be_focused()


def test_a_poll_waits_while_the_tab_is_hidden(timed_page: Page) -> None:
    page = timed_page
    looks: list[str] = []
    log_in(page, to="/health/live")
    page.on("request", lambda sent: looks.append(sent.url) if "/live/" in sent.url else None)
    page.goto("/")
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => !window.somebodyLooks})")
    time_passes(page)
    page.evaluate(NEXT_FRAME)
    assert looks == []
    # Hide the tab again at once; otherwise a later poll could not be told from the one made up for.
    page.evaluate(
        "window.somebodyLooks = true; document.dispatchEvent(new Event('visibilitychange'));"
        "window.somebodyLooks = false"
    )
    until(page, lambda: bool(looks))
    settle(page)
    assert len(looks) == 1
