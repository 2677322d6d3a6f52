"""Two people comment on one text in browsers, one of them with the keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.addresses import execute
from tests.browser.barriers import barriers
from tests.browser.conftest import POLL, log_in, new_profile, open_page, until
from tests.support.processes import Running

DRAFT = """SELECT page_id, audience_id FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id <> '' AND archived = 0
  ORDER BY audience_id DESC LIMIT 1"""
SELECT = """() => {
  const text = document.querySelector(".line [data-at]").firstChild;
  getSelection().setBaseAndExtent(text, 0, text, Math.min(text.length, 12));
}"""


@pytest.fixture
def ana(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """A publisher's tab in another browser."""
    with new_profile(browser, server.url) as context:
        yield log_in(open_page(context, troubles), "publisher", to="/accounts/settings/")


def test_two_people_comment_on_the_same_text(page: Page, ana: Page, server: Running) -> None:
    [[page_id, audience_id]] = execute(server, DRAFT)
    path = f"/pages/{page_id}/audiences/{audience_id}/comments/"
    ben = log_in(page, to=path)
    ana.goto(path)
    # Ben comments on selected words and mentions Ana.
    ben.evaluate(SELECT)
    ben.get_by_role("button", name="Comment", exact=True).first.click()
    ben.keyboard.type("@publ")
    expect(ben.get_by_role("option", name="publisher")).to_be_visible()
    ben.keyboard.press("Enter")
    ben.keyboard.type("is this right?")
    ben.keyboard.press("Control+Enter")
    thread = ben.locator(".annotated .thread-card")
    expect(thread).to_contain_text("@publisher is this right?")
    expect(ben.locator(".line mark").first).to_be_visible()
    # A thread leads to its words.
    thread.get_by_role("link", name="On “").press("Enter")
    expect(ben.locator(".line :target + mark")).to_be_in_viewport()
    # Ben's comment appears on Ana's open page while she is typing. Her text stays.
    ana.get_by_label("New comment").fill("Half a thought")
    until(ana, lambda: ana.evaluate(POLL) or ana.locator(".thread-card").count())
    expect(ana.get_by_label("New comment")).to_have_value("Half a thought")
    ana.reload()
    expect(ana.get_by_label("New comment")).to_have_value("Half a thought")
    assert barriers(ana) == []
    # Reply, then resolve, with the keyboard alone.
    ana.locator(".annotated summary").focus()
    ana.keyboard.press("Enter")
    ana.keyboard.press("Tab")
    ana.keyboard.type("It is.")
    ana.keyboard.press("Control+Enter")
    expect(ana.locator(".discussion").first).to_contain_text("It is.")
    expect(ana.locator(".annotated summary")).to_be_focused()
    ana.get_by_role("button", name="Resolve").first.focus()
    ana.keyboard.press("Enter")
    expect(ana.locator("details.thread-card")).to_contain_text("resolved")
    expect(ana.get_by_label("New comment")).to_have_value("Half a thought")
    assert barriers(ana) == []
