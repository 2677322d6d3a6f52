"""The focus stays, or moves to where a reader would continue, when a response replaces parts."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.addresses import addresses
from tests.browser.conftest import log_in
from tests.support.processes import Running

IN_WHAT_CAME = """([id, count]) => {
  const all = [...document.querySelectorAll(id)];
  return all.indexOf(document.activeElement.closest(id)) === count;
}"""


def test_a_choice_of_what_is_shown_keeps_the_focus(page: Page, server: Running) -> None:
    log_in(page, to=addresses(server)["audience"])
    choices = page.get_by_role("group", name="Fields to show")
    choices.get_by_role("link", name="All").press("Enter")
    expect(choices.get_by_role("link", name="All")).to_have_attribute("aria-current", "true")
    expect(choices.get_by_role("link", name="All")).to_be_focused()


@pytest.mark.parametrize(("address", "rows"), [("/activity/", ".log li"), ("/pages/", "#rows tr")])
def test_loaded_rows_get_the_focus_at_the_end(address: str, rows: str, page: Page) -> None:
    log_in(page, to=address)
    # Other tests create pages and operations, so the number is unknown.
    button = page.get_by_role("link", name=re.compile(r"^Load( \d+)? more$"))
    there = page.locator(rows).filter(has_not=button).count()
    button.press("Enter")
    page.wait_for_function(IN_WHAT_CAME, arg=[rows, there])
