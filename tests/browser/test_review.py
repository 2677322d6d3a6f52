"""Review a list with the keyboard alone, while a colleague reviews the same list."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import (
    NOTE_ANNOUNCEMENTS,
    POLL,
    best,
    log_in,
    new_profile,
    open_page,
    settle,
    until,
)
from tests.support.processes import Running

EACH_WAY = 20
HELD_DOWN = """(key) => {
  for (const repeat of [false, true, true, true])
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true }));
}"""
"""Sends the events of a key that is held down."""
IS_FETCHED = """() => {
  const [path] = document.getElementById("review-items").dataset.next.trim().split(" ");
  return performance.getEntriesByName(new URL(path, location).href).length > 0;
}"""
"""Whether the next item was fetched in advance."""
TIME_NEXT_KEY = """() => {
  window.took = null;
  const before = document.getElementById("item-h");
  document.addEventListener("keydown", ({ timeStamp }) => {
    const note = () => { window.took = performance.now() - timeStamp; };
    const look = () => requestAnimationFrame(
      document.getElementById("item-h") === before ? look : () => setTimeout(note));
    look();
  }, { capture: true, once: true });
}"""
"""Measures from the next key press until another item's heading is painted, in milliseconds."""


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


def test_forty_items_are_decided_by_keys_alone(
    page: Page, other: Page, troubles: list[str]
) -> None:
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
    assert urlsplit(page.url).path == urlsplit(rejected).path
    expect(page.locator("#reject-text")).to_have_value("Too narrow.")
    expect(page.locator("#reject-text")).to_be_hidden()
    # A comment is written by keys, too, also beside another thread.
    for words in ("Is it right?", "And this?"):
        page.keyboard.press("t")
        expect(page.get_by_label("New comment")).to_be_focused()
        page.keyboard.type(words)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#item-discussion")).to_contain_text(words)
        page.locator("#item-h").focus()
    # Unsent words stay with their item.
    page.get_by_label("New comment").fill("Half a thought")
    page.locator("#item-h").focus()
    press(page, "j")
    expect(page.get_by_label("New comment")).to_have_value("")
    page.locator(f'#review-items a[href="{urlsplit(rejected).path}"]').click()
    expect(page).to_have_url(rejected)
    expect(page.get_by_label("New comment")).to_have_value("Half a thought")
    # A refused form opens again in its place.
    page.keyboard.press("h")
    place = page.locator("form#later").bounding_box()
    page.get_by_role("button", name="Pick").click()
    expect(page.locator("#item")).to_contain_text("Enter a valid date")
    assert page.locator("form#later").bounding_box() == place
    troubles.clear()  # the browser logs the 422
    page.keyboard.press("Escape")
    name = page.locator("#item-h").inner_text()
    following = (page.locator("#review-items").get_attribute("data-next") or "").split()[0]
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


def test_the_next_item_is_painted_within_100_ms(page: Page) -> None:
    log_in(page, to="/review/")
    begin(page, "name")

    def next_item() -> float:
        page.wait_for_function(IS_FETCHED)
        settle(page)
        page.evaluate(TIME_NEXT_KEY)
        press(page, "j")
        page.wait_for_function("() => window.took !== null")
        return float(page.evaluate("window.took"))

    assert best(next_item, below=100) < 100


def test_needs_work_suggests_people_to_mention(page: Page) -> None:
    log_in(page, to="/review/")
    begin(page, "name")
    item, words = urlsplit(page.url).path, page.get_by_label("What needs work?")
    page.keyboard.press("c")
    page.keyboard.type("@publ")
    expect(page.locator(".people-list").get_by_role("option", name="publisher")).to_be_visible()
    assert barriers(page) == []
    page.keyboard.press("Enter")
    page.keyboard.type("is it right?")
    expect(words).to_have_value("@publisher is it right?")
    press(page, "Control+Enter")
    expect(page.locator("#last")).to_contain_text("needs work")
    page.locator(f'#review-items a[href="{item}"]').click()
    expect(page.locator("#item-discussion")).to_contain_text("@publisher is it right?")
    expect(words).to_have_value("")
    page.keyboard.press("z")
    expect(page.locator("#item-discussion")).to_contain_text("No comments yet.")
    expect(words).to_have_value("@publisher is it right?")


def test_a_colleague_s_decision_is_announced(page: Page, other: Page) -> None:
    page.add_init_script(NOTE_ANNOUNCEMENTS)
    log_in(page, to="/review/")
    begin(page, "name")
    name = page.locator("#item-h").inner_text()
    begin(other, "name")
    other.locator("#review-items a").filter(has_text=name).click()
    expect(other.locator("#item-h")).to_have_text(name)
    press(other, "x", "Control+Enter")

    def announced() -> list[str]:
        page.evaluate(POLL)
        texts: list[str] = page.evaluate("window.announced")
        return [text for text in texts if "publisher rejected it" in text]

    until(page, lambda: bool(announced()))
    assert announced()[0].endswith(" ago.")
    assert ".." not in announced()[0]
    press(other, "z")


def test_a_menu_leaves_its_button_visible(page: Page) -> None:
    """At 1280 × 800, the menus of the last decisions fit only above and to the left."""
    log_in(page, to="/review/")
    begin(page, "name")
    for name in ("Needs work", "Reject", "Later"):
        button = page.locator(".decisions").get_by_role("button", name=name)
        button.click()
        menu = page.locator(".decide > .menu:popover-open").bounding_box()
        box = button.bounding_box()
        assert menu is not None
        assert box is not None
        assert menu["y"] + menu["height"] <= box["y"], f"the menu covers {name}"
        page.keyboard.press("Escape")
