"""Lists at the width of a tablet, and beside a person who is open: nothing collides or is lost."""

import re
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.addresses import addresses, database_of
from tests.browser.barriers import barriers_of_colour
from tests.browser.conftest import log_in
from tests.support.processes import Running

PUBLISHED_BEFORE = """SELECT page_id, audience_id FROM ledger_versionrecord
  WHERE status = 'archived' ORDER BY audience_id LIMIT 1"""

LISTS = (
    *("/", "/pages/", "/audiences/", "/releases/", "/people/?q=an", "/webhooks/"),
    *("/activity/", "/activity/outside/", "/approvals/", "/notifications/", "/saved-views/"),
    *("/hooks/", "/find/?q=bright"),
)
OF_ADMINISTRATORS = ("/service/watch/", "/notifications/deliveries/")

GAPS = """() => [...document.querySelectorAll(".log summary")].map((row) => {
  const time = document.createRange();
  time.selectNodeContents(row.querySelector("time"));
  return row.querySelector("b").getBoundingClientRect().left - time.getBoundingClientRect().right;
})"""
LINES = """(element) => {
  const words = document.createRange();
  words.selectNodeContents(element);
  return words.getClientRects().length;
}"""
HAS_ROOM = "(element) => element.scrollWidth <= element.clientWidth"


SHOW_MENU = """(menu) => {
  const around = menu.parentElement.closest("[popover]");
  if (around && !around.checkVisibility()) around.showPopover();
  menu.showPopover();
}"""


def shown_texts(cells: Locator) -> list[str]:
    return [cell.inner_text() for cell in cells.all() if cell.is_visible()]


def test_the_time_of_an_operation_keeps_its_distance_in_a_12_hour_clock(
    browser: Browser, server: Running
) -> None:
    gaps = {}
    with browser.new_context(base_url=server.url, locale="en-US") as context:
        page = log_in(context.new_page(), to="/activity/")
        for width in (768, 1024):
            page.set_viewport_size({"width": width, "height": 900})
            expect(page.locator(".log time").filter(has_text="PM").first).to_be_visible()
            gaps[width] = min(page.evaluate(GAPS))
    assert {width: gap for width, gap in gaps.items() if gap < 16} == {}


def test_no_heading_of_the_activity_breaks_within_a_word(page: Page) -> None:
    log_in(page, to="/activity/")
    headings = page.locator(".log > p > span")
    expect(headings.last).to_have_text("Duration")
    lines = {}
    for width in (768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        lines[width] = {one.evaluate(LINES) for one in headings.all() if one.inner_text()}
    assert lines == {768: {1}, 1440: {1}}


def test_a_tablet_shows_the_domain_and_phone_of_people(page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    log_in(page, to="/people/")
    headings = shown_texts(page.locator("thead th"))
    assert headings == ["Name and email", "Domain", "Phone", "Updated"]
    assert page.evaluate("document.documentElement.scrollWidth") == 768


def test_beside_an_open_person_a_long_domain_gives_way_and_not_the_names(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    log_in(page, to="/people/?q=distribuciones")
    page.locator("#rows a").first.click()
    expect(page.locator("#person h2")).to_be_visible()
    names = page.locator("#rows th a")
    assert [one.inner_text() for one in names.all() if not one.evaluate(HAS_ROOM)] == []
    assert names.first.evaluate("(name) => name.clientWidth") > 250


def test_the_menu_of_the_person_leaves_no_link_half_covered(
    page: Page, troubles: list[str]
) -> None:
    wrong = {}
    log_in(page, to="/accounts/settings/")
    opener = page.get_by_role("button", name="Open menu")
    for width in (320, 360, 768):
        page.set_viewport_size({"width": width, "height": 800})
        opener.click()
        page.get_by_role("button", name="demo").click()
        expect(page.get_by_role("button", name="Sign out"), str(width)).to_be_visible()
        # What else axe looks at is the same at any width, and in `test_every_page.py`.
        if found := barriers_of_colour(page):
            wrong[width] = found
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.locator(":popover-open"), str(width)).to_have_count(0)
    assert wrong == {}
    troubles.clear()  # What axe does while it looks is against the policy.


def test_cancel_and_publish_stay_side_by_side_where_the_number_is_typed(
    page: Page, server: Running
) -> None:
    with closing(sqlite3.connect(database_of(server))) as database:
        page_id, audience_id = database.execute(PUBLISHED_BEFORE).fetchone()
    log_in(page, to=f"/pages/{page_id}/audiences/{audience_id}/versions/")
    roll_back = page.get_by_role("link", name="Roll back to").first
    number = roll_back.inner_text().rsplit(maxsplit=1)[-1]
    roll_back.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label(f"Type {number} to publish")).to_be_visible()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        cancel = dialog.get_by_role("link", name="Cancel").bounding_box()
        publish = dialog.get_by_role("button", name=f"Publish version {number}").bounding_box()
        assert cancel, width
        assert publish, width
        assert cancel["y"] == publish["y"], width
        assert cancel["x"] < publish["x"], width


def test_menus_stay_in_the_window_where_nothing_can_be_anchored(page: Page) -> None:
    def without_anchors(route: Route) -> None:
        sheet = route.fetch().text().replace("not (position-area: bottom)", "(display: grid)")
        sheet = re.sub(r"position-(area|try-fallbacks):[^;]+;", "", sheet)
        route.fulfill(body=sheet, content_type="text/css")

    page.route("**/*.css", without_anchors)
    outside = {}
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        log_in(page, to="/pages/")
        for menu in page.locator(".menu[popover]").all():
            menu.evaluate(SHOW_MENU)
            box = menu.bounding_box()
            assert box
            right, bottom = box["x"] + box["width"], box["y"] + box["height"]
            if min(box["x"], box["y"]) < 0 or right > width or bottom > 800:
                outside[width, menu.get_attribute("id")] = box
            menu.evaluate("menu => menu.hidePopover()")
    assert outside == {}


@pytest.mark.parametrize("name", ["demo", "publisher", "viewer"])
def test_no_list_is_wider_than_a_phone(name: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, name)
    widths = {}
    for path in (*LISTS, *(OF_ADMINISTRATORS if name == "demo" else ())):
        page.goto(path, wait_until="domcontentloaded")
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in widths.items() if width != 390} == {}


def test_the_facts_of_a_release_have_the_width_of_a_phone(page: Page, server: Running) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, to=addresses(server)["release scheduled"])
    facts = page.locator("main .head p").first.bounding_box()
    assert facts
    assert facts["width"] > 340
