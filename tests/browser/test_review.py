"""Review a list with the keyboard alone, while a colleague reviews the same list."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import log_in, new_profile, open_page, settle
from tests.support.processes import Running

EACH_WAY = 20
HELD_DOWN = """(key) => {
  for (const repeat of [false, true, true, true])
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true }));
}"""
"""Sends the events of a key that is held down."""


@pytest.fixture
def other(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """Another publisher's tab."""
    with new_profile(browser, server.url) as context:
        yield log_in(open_page(context, troubles), "publisher", to="/health/live")


def begin(page: Page, order: str) -> None:
    """Start a review of the audiences with unpublished changes."""
    page.goto(f"/audiences/?live=changed&sort={order}")
    settle(page)
    page.get_by_role("button", name="Review").first.click()
    expect(page.locator("#item-h")).to_be_visible()
    settle(page)


def number_of(page: Page) -> int:
    return int(page.url.rstrip("/").rpartition("/")[2])


def press(page: Page, *keys: str) -> None:
    """Press keys. The last one opens another item."""
    before = page.url
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("(before) => location.href !== before", arg=before)
    expect(page.locator("#item-h")).to_be_focused()


def test_forty_items_are_decided_by_keys_alone(page: Page, other: Page) -> None:
    log_in(page, to="/review/")
    assert barriers(page) == []
    for order in ("name", "-name"):
        begin(page, order)
        assert order == "name" or barriers(page) == []
        begin(other, order)
        held, numbers = number_of(other), [number_of(page)]
        for number in range(EACH_WAY - 1):
            keys = [("s",), ("h", "Enter"), ("j",)][number % 3]
            press(page, *keys)
            numbers.append(number_of(page))
        assert held not in numbers
        assert numbers == sorted({*numbers})
        expect(page.locator("#last")).to_be_visible()
        press(other, "s")

    # An undone decision shows its item again; a held key acts once.
    rejected = page.url
    page.keyboard.press("x")
    page.keyboard.type("Too narrow.")
    press(page, "Control+Enter")
    assert page.url != rejected
    expect(page.locator("#last")).to_contain_text("rejected. “Too narrow.”")
    press(page, "z")
    assert page.url == rejected
    # A comment is written by keys, too, also beside another thread.
    for words in ("Is it right?", "And this?"):
        page.keyboard.press("t")
        expect(page.locator("#new-thread")).to_be_focused()
        page.keyboard.type(words)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#talk")).to_contain_text(words)
        page.locator("#item-h").focus()
    name = page.locator("#item-h").inner_text()
    following = (page.locator("#lane").get_attribute("data-next") or "").split()[0]
    page.evaluate(HELD_DOWN, "s")
    page.wait_for_url(f"**{following}")
    settle(page)
    assert page.url.endswith(following)
    page.go_back()
    expect(page).to_have_url(rejected)
    expect(page.locator("#item-h")).to_have_text(name)
    page.keyboard.press("Escape")
    expect(page.locator("#empty-h")).to_be_visible()
    assert barriers(page) == []
