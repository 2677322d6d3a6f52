"""By keyboard alone: the main path, with the focus in reading order on each page."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.addresses import addresses
from tests.browser.conftest import HIDE, log_in, settle
from tests.browser.planned import go_live
from tests.support.matrix import sampled
from tests.support.processes import Running

FARTHEST = 400
"""Most presses of Tab that a page may need."""
STOPS = """() => {
  const stops = ["a[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary",
    "[tabindex='0']"];
  window.stops = [...document.querySelectorAll(stops.join())].filter(
    (each) => each.checkVisibility({ visibilityProperty: true }) && each.tabIndex >= 0
      && (each.type !== "radio" || each.checked));
}"""
WHERE = """() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const box = at.getClientRects()[0]; // of a link in two lines, the first
  const x = Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1);
  const on = document.elementFromPoint(x, box.top + Math.min(box.height / 2, 12));
  return {
    stop: window.stops.indexOf(at),
    is_hidden: on === null || !(at.contains(on) || on.contains(at) || at.labels?.[0]?.contains(on)),
    is_marked: getComputedStyle(at).outlineStyle !== "none",
    html: at.outerHTML.slice(0, 120),
  };
}"""
NOTE_LINKS = """addEventListener("click", (event) => {
  event.preventDefault();
  window.link = event.target.closest("a").getAttribute("href");
}, true)"""
VISIBLE = """all => all.filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .map((each) => each.outerHTML.slice(0, 120))"""
PAGES = (
    "overview",
    "pages filtered",
    "page",
    "audience",
    "versions",
    "compare",
    "conversation",
    "people found",
    "webhooks",
    "webhook",
    "operation unknown",
    "find",
    "settings",
)


def walk(page: Page) -> list[dict[str, Any]]:
    """Press Tab from the top of a page to its end; return each element that had the focus."""
    page.evaluate(HIDE, True)  # No poll changes the page meanwhile.
    page.evaluate(STOPS)
    matching: list[dict[str, Any]] = []
    for _ in range(FARTHEST):
        page.keyboard.press("Tab")
        place = page.evaluate(WHERE)
        if place is None or (matching and place["stop"] == matching[0]["stop"]):
            return matching
        matching.append(place)
    raise AssertionError(f"no end after {FARTHEST} presses, at {matching[-1]['html']}")


def test_focus_follows_reading_order_and_is_visible(
    page: Page, server: Running, pytestconfig: pytest.Config
) -> None:
    """A run takes a third of the pages."""
    wrong: dict[str, dict[str, object]] = {}
    pages = addresses(server)
    names = sampled(PAGES, pytestconfig, turn=0, of=3)
    log_in(page, to=pages[names[0]])
    for name in names:
        page.goto(pages[name])
        settle(page)
        result = walk(page)
        stops = [place["stop"] for place in result]
        missed = sorted(set(range(page.evaluate("stops.length"))) - set(stops))
        unseen = [it["html"] for it in result if it["is_hidden"] or not it["is_marked"]]
        problems = {
            "stops in another order": [] if stops == sorted(stops) else stops,
            "missed": [
                page.evaluate(f"stops[{problem}].outerHTML.slice(0, 120)") for problem in missed
            ],
            "focused, not seen": unseen,
        }
        if any(problems.values()):
            wrong[name] = problems
    assert wrong == {}


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with that name has the focus."""
    for _ in range(FARTHEST):
        page.keyboard.press("Tab")
        message = "(document.activeElement.ariaLabel ?? document.activeElement.innerText).trim()"
        if name in page.evaluate(message):
            return
    raise AssertionError(f"Tab leads to no {name}")


def go_down_to(page: Page, rows: str) -> None:
    """Press J until one of those rows has the focus; others may come first."""
    for _ in range(FARTHEST):
        page.keyboard.press("j")
        if page.locator(f":is({rows}):is(:focus, :has(:focus))").count():
            return
    raise AssertionError(f"J leads to no {rows}")


def test_the_main_path_needs_no_mouse(page: Page, server: Running) -> None:
    page.goto("/accounts/login/?next=/pages/")
    expect(page.get_by_label("Username", exact=True)).to_be_focused()
    page.keyboard.type("demo")
    page.keyboard.press("Tab")
    page.keyboard.type("demo")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Pages")
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("handbook")
    page.wait_for_url("**q=handbook*")
    tab_to(page, "Dispatcher")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Dispatcher")
    page.wait_for_url("**/pages/*/")
    _publish_the_first(page, server)
    _find_a_person(page)
    _switch_a_webhook(page)
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url("**/activity/")
    go_down_to(page, ".log summary")
    page.keyboard.press("Enter")
    expect(page.locator(".log details[open]")).to_contain_text("Sales chat")


def _publish_the_first(page: Page, server: Running) -> None:
    page.keyboard.press("j")
    page.keyboard.press("p")
    dialog = page.get_by_role("dialog", name="Publish version")
    expect(dialog.locator(":focus")).to_have_text("Cancel")
    tab_to(page, "Publish version")
    page.keyboard.press("Enter")
    expect(page.locator("#pub-h")).to_have_text(re.compile(r"Publishing version|is live"))
    go_live(server)
    expect(page.locator("#pub-h")).to_have_text(re.compile(r"Version \d+ is live"))
    expect(page.locator("#publish .dialog-foot > a[data-closes]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#publish")).to_have_count(0)
    page.wait_for_load_state()


def _find_a_person(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("u")
    page.wait_for_url("**/people/")
    page.keyboard.press("/")
    page.keyboard.type("ann")
    expect(page).to_have_title(re.compile("ann"))
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#person h2")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#person")).to_be_hidden()


def _switch_a_webhook(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("w")
    page.wait_for_url("**/webhooks/")
    tab_to(page, "Active: Sales chat")
    page.keyboard.press("Space")
    expect(page.get_by_role("dialog").locator(":focus")).to_have_text("Cancel")
    tab_to(page, "Turn off")
    page.keyboard.press("Enter")
    switch = page.locator("[role=switch]:focus")
    expect(switch).to_have_attribute("aria-checked", "false")
    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "true")


def test_g_and_a_letter_open_the_navigation_link(page: Page) -> None:
    log_in(page)
    page.evaluate(NOTE_LINKS)
    went = []
    for letter in "opdruwvan":
        page.keyboard.press("g")
        page.keyboard.press(letter)
        went.append(page.evaluate("window.link"))
    sections = ["/", *(f"/{name}/" for name in ("pages", "audiences", "releases", "people"))]
    assert went == [*sections, "/webhooks/", "/approvals/", "/activity/", "/notifications/"]


@pytest.mark.parametrize("address", ["/pages/", "/people/", "/activity/", "/webhooks/"])
def test_the_row_reached_by_j_is_marked(page: Page, address: str) -> None:
    log_in(page, to=address)
    go_down_to(page, "tbody tr, .log summary")
    row = page.locator("tr:has(:focus-visible), summary:focus-visible")
    ground = "(it) => getComputedStyle(it).backgroundColor"
    expect(row).to_have_count(1)
    by_keys = row.evaluate(ground)
    page.evaluate("document.activeElement.blur()")
    first = page.locator("main tbody tr, main .log summary").first
    assert first.evaluate(ground) != by_keys
    first.hover()
    assert first.evaluate(ground) == by_keys


def test_the_focus_ring_of_a_name_covers_nothing_below(page: Page) -> None:
    log_in(page, to="/people/")
    page.keyboard.press("j")
    style = "(it) => getComputedStyle(it).outlineOffset"
    assert page.locator("tbody a:focus-visible").evaluate(style) == "-1px"


def test_without_scripts_no_key_or_copy_button_is_offered(
    plain_page: Page, server: Running
) -> None:
    pages = addresses(server)
    offered: dict[str, list[str]] = {}
    log_in(plain_page, to="/accounts/settings/")
    for name in ("conversation", "page", "find", "settings", "people found"):
        plain_page.goto(pages[name])
        dead = plain_page.locator("kbd, [data-copy], [data-copies], #keys, a[href$='#keys']")
        assert dead.count() > 0, f"nothing to hide: {name}"
        offered[name] = dead.evaluate_all(VISIBLE)
    assert {name: matching for name, matching in offered.items() if matching} == {}
