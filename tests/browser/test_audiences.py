"""The list of all audiences by keyboard, and a selection that survives replaced rows."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in, settle

LIST = "/audiences/?sort=name"


def bar(page: Page) -> str:
    """Return the text of the selection bar, empty if it is hidden."""
    locator = page.locator("[data-selection-bar]")
    return locator.inner_text() if locator.is_visible() else ""


def checked(page: Page) -> list[bool]:
    """Return which of the first six rows are checked."""
    boxes = page.locator("#rows input[name=audience]")
    result: list[bool] = boxes.evaluate_all("all => all.slice(0, 6).map((each) => each.checked)")
    return result


@pytest.fixture
def audiences(page: Page) -> Page:
    """The list, as a publisher sees it."""
    return log_in(page, to=LIST)


def test_rows_are_selected_by_keyboard(audiences: Page) -> None:
    audiences.keyboard.press("j")
    audiences.keyboard.press("x")
    assert checked(audiences) == [True, False, False, False, False, False]
    for _ in range(3):
        audiences.keyboard.press("j")
    audiences.keyboard.press("Shift+X")
    assert checked(audiences) == [True, True, True, True, False, False]
    assert "4 selected" in bar(audiences)
    audiences.keyboard.press("k")
    audiences.keyboard.press("x")
    assert checked(audiences) == [True, True, False, True, False, False]
    expect(audiences.locator("#selection-announcement")).to_have_text("3 selected")
    audiences.keyboard.press("Escape")
    assert checked(audiences) == [False] * 6
    assert bar(audiences) == ""


def test_a_click_with_shift_selects_all_between(audiences: Page) -> None:
    boxes = audiences.locator("#rows input[name=audience]")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    assert checked(audiences) == [False, True, True, True, True, False]
    audiences.keyboard.press("j")
    audiences.keyboard.press("x")
    assert checked(audiences) == [False, True, True, True, True, True]


def test_the_selection_outlasts_filters_more_rows_reload_and_back(audiences: Page) -> None:
    boxes = audiences.locator("#rows input[name=audience]")
    first = boxes.first.get_attribute("value")
    boxes.first.check()
    audiences.locator("#load-more").click()
    expect(boxes).to_have_count(100)
    boxes.nth(70).check()
    assert "2 selected" in bar(audiences)
    audiences.get_by_label("Search name and ID").fill("nothing-is-called-so")
    expect(audiences.get_by_text("No audiences match")).to_be_visible()
    settle(audiences)
    assert re.search(r"2 selected\s+2 not shown", bar(audiences))
    audiences.reload()
    assert "2 selected" in bar(audiences)
    audiences.get_by_role("link", name="Clear search and filters").click()
    audiences.goto("/accounts/settings/")
    audiences.go_back()
    settle(audiences)
    assert "2 selected" in bar(audiences)
    audiences.goto(LIST)
    expect(audiences.locator(f'input[name=audience][value="{first}"]')).to_be_checked()
    assert first
    audiences.get_by_role("button", name="Clear", exact=True).click()
    audiences.goto("/audiences/?live=changed")
    boxes.first.check()
    boxes.nth(1).check()
    audiences.get_by_role("button", name="Publish 2…").click()
    expect(audiences.get_by_role("heading", level=1)).to_have_text(re.compile("^2 versions"))
    # The draft has no decisions, so the selection stays.
    audiences.wait_for_load_state()
    audiences.goto("/audiences/?q=brightwater")
    expect(boxes.first).to_be_visible()
    assert "2 selected" in bar(audiences)


def test_all_that_match_are_selected_by_their_number(page: Page) -> None:
    # Their number stays: what other tests have published goes live in other lists.
    audiences = log_in(page, to="/audiences/?live=not-live")
    audiences.get_by_label("Select all rows shown").check()
    everything = audiences.get_by_role("button", name=re.compile(r"Select all \d+ that match"))
    number = re.findall(r"\d+", everything.inner_text())[0]
    assert int(number) > 50
    everything.press("Enter")
    expect(audiences.locator("[data-selection-bar] b")).to_have_text(f"{number} selected")
    audiences.get_by_role("button", name="Clear", exact=True).press("Enter")
    assert bar(audiences) == ""
    assert audiences.evaluate("document.activeElement !== document.body")


def test_a_page_has_a_selection_of_its_own(audiences: Page) -> None:
    audiences.locator("#rows input[name=audience]").first.check()
    audiences.locator("#rows th .secondary a").first.click()
    assert bar(audiences) == ""
    boxes = audiences.locator("#audience-results input[name=audience]")
    boxes.first.check()
    assert "1 selected" in bar(audiences)
    audiences.goto(LIST)
    assert checked(audiences) == [True] + [False] * 5


def test_who_signs_in_next_finds_nothing_selected(audiences: Page) -> None:
    audiences.locator("#rows input[name=audience]").first.check()
    audiences.context.clear_cookies()
    log_in(audiences, "publisher", to=LIST)
    assert checked(audiences) == [False] * 6
    assert bar(audiences) == ""


def test_without_scripts_the_form_sends_what_is_checked(plain_page: Page) -> None:
    page = log_in(plain_page, to=LIST)
    page.locator("#rows input[name=audience]").nth(2).check()
    page.get_by_role("button", name="Add to release…").click()
    expect(page.locator("form input[name=audience]:checked")).to_have_count(1)


def test_the_bar_hides_no_row_that_has_the_focus(audiences: Page) -> None:
    audiences.locator("#rows input[name=audience]").first.check()
    for _ in range(14):
        audiences.keyboard.press("j")
    row = audiences.locator("#rows tr:has(:focus)").bounding_box()
    bar = audiences.locator("[data-selection-bar]").bounding_box()
    assert row
    assert bar
    assert row["y"] + row["height"] <= bar["y"] + 1
