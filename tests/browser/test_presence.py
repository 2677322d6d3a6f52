"""Two people on one audience: each sees the other arrive, publish, become idle and leave."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.addresses import execute
from tests.browser.conftest import NOTE_ANNOUNCEMENTS, POLL, log_in, new_profile, open_page, until
from tests.support.processes import Running

DRAFT = """SELECT page_id, audience_id, latest_version_number FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id <> '' AND archived = 0
    AND audience_id NOT IN (SELECT audience_id FROM releases_releaseitem)
  ORDER BY audience_id LIMIT 1"""
FIVE_MINUTES = 5 * 60_000


@pytest.fixture
def ana(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """A publisher's tab in another browser, with a clock that the test can move."""
    with new_profile(browser, server.url) as context:
        context.clock.install()
        context.clock.resume()
        page = log_in(open_page(context, troubles), "publisher", to="/accounts/settings/")
        yield page
        # Otherwise she would still be present in the next test, for 90 seconds.
        page.close()


@pytest.fixture
def audience(server: Running) -> tuple[str, int]:
    """Path of an audience with a draft, and the number of the draft."""
    [[page_id, audience_id, number]] = execute(server, DRAFT)
    return f"/pages/{page_id}/audiences/{audience_id}/", number


def sees(page: Page, text: str) -> None:
    """Wait until the line about who else is here has this text; an open dialog has its own."""
    line = page.locator("dialog[open] [data-here], main [data-here]").last

    def holds() -> bool:
        page.evaluate(POLL)
        return " ".join(line.inner_text().split()) == text

    until(page, holds)


def test_ben_sees_ana_come_publish_and_leave(
    page: Page, ana: Page, audience: tuple[str, int]
) -> None:
    path, number = audience
    page.add_init_script(NOTE_ANNOUNCEMENTS)
    ben = log_in(page, to=path)
    tabs = ben.get_by_role("navigation", name="Audience")
    top = tabs.bounding_box()
    sees(ben, "")
    ana.goto(path)
    sees(ben, "pu publisher is here")
    sees(ana, "de demo is here")
    ana.get_by_role("link", name=f"Publish version {number}").first.click()
    sees(ben, f"pu publisher is publishing version {number}")
    sees(ana, "de demo is here")
    ana.clock.fast_forward(FIVE_MINUTES)
    sees(ben, "pu publisher, idle")
    ana.keyboard.press("Escape")
    sees(ben, "pu publisher is here")
    ana.close()
    sees(ben, "")
    assert tabs.bounding_box() == top
    announced = [text for text in ben.evaluate("window.announced") if text.startswith("publisher")]
    assert announced == ["publisher is here.", f"publisher is publishing version {number}."]


def test_a_row_is_marked_where_it_is(page: Page, ana: Page, audience: tuple[str, int]) -> None:
    path, _ = audience
    ben = log_in(page, to=f"/audiences/?q={path.split('/')[-2]}")
    row = ben.get_by_role("row").filter(has=ben.locator(f'a[href="{path}"]'))
    before = row.bounding_box()
    ana.goto(path)

    def is_marked() -> bool:
        ben.evaluate(POLL)
        return row.get_by_text("publisher is here").count() == 1

    until(ben, is_marked)
    assert row.bounding_box() == before
    expect(ana.locator("[data-here]")).not_to_contain_text("demo")


def test_who_goes_to_another_tab_is_idle_not_gone(
    page: Page, ana: Page, audience: tuple[str, int]
) -> None:
    path, _ = audience
    ben = log_in(page, to=path)
    ana.goto(path)
    sees(ben, "pu publisher is here")
    ana.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    ana.clock.fast_forward(31_000)
    sees(ben, "pu publisher, idle")


def test_without_scripts_no_presence_is_shown(
    plain_page: Page, ana: Page, audience: tuple[str, int]
) -> None:
    path, _ = audience
    with ana.expect_response(re.compile("/live/here/")):
        ana.goto(path)
    log_in(plain_page, to=path)
    expect(plain_page.locator("[data-here]")).to_be_hidden()
