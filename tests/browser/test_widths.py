"""Lists at a tablet's width and beside an open person: nothing collides or is cut off."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.addresses import addresses, execute
from tests.browser.barriers import barriers_of_colour
from tests.browser.conftest import log_in
from tests.support.processes import Running

PUBLISHED_BEFORE = """SELECT version.page_id, version.audience_id
  FROM ledger_versionrecord version JOIN ledger_audiencerecord USING (page_id, audience_id)
  WHERE status = 'published' AND version_id != live_version_id
    AND latest_version_id = live_version_id AND latest_status = 'published' AND NOT archived
    AND audience_id NOT IN (SELECT audience_id FROM releases_releaseitem)
    AND audience_id NOT IN (SELECT audience_id FROM ledger_operation WHERE outcome = 'unknown')
  ORDER BY version.audience_id LIMIT 1"""

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
CUT_TABLES = """() => [...document.querySelectorAll(".scroll:has(> .stacked)")]
  .filter((table) => table.scrollWidth > table.clientWidth).map((table) => table.scrollWidth)"""
"""The widths of tables with labeled rows that don't fit their page."""


SHOW_MENU = """(menu) => {
  const around = menu.parentElement.closest("[popover]");
  if (around && !around.checkVisibility()) around.showPopover();
  menu.showPopover();
}"""


def shown_texts(cells: Locator) -> list[str]:
    return [cell.inner_text() for cell in cells.all() if cell.is_visible()]


def test_an_operation_s_time_keeps_its_distance(page: Page) -> None:
    gaps = {}
    for hours, widths in (("2:05 PM", (768, 1024)), ("14:05", ())):
        log_in(page, "viewer", to="/accounts/settings/")
        page.get_by_label(hours).check()
        page.get_by_role("button", name="Save settings").click()
        page.goto("/activity/")
        for width in widths:
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
        lines[width] = {item.evaluate(LINES) for item in headings.all() if item.inner_text()}
    assert lines == {768: {1}, 1440: {1}}


def test_a_tablet_shows_the_domain_and_phone_of_people(page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    log_in(page, to="/people/")
    headings = shown_texts(page.locator("thead th"))
    assert headings == ["Name and email", "Domain", "Phone", "Updated"]
    assert page.evaluate("document.documentElement.scrollWidth") == 768


def test_a_long_domain_yields_to_names(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    log_in(page, to="/people/?q=distribuciones")
    page.locator("#rows a").first.click()
    expect(page.locator("#person h2")).to_be_visible()
    names = page.locator("#rows th a")
    assert [item.inner_text() for item in names.all() if not item.evaluate(HAS_ROOM)] == []
    assert names.first.evaluate("(name) => name.clientWidth") > 250


def test_the_person_menu_covers_no_link_halfway(page: Page, troubles: list[str]) -> None:
    wrong = {}
    log_in(page, to="/accounts/settings/")
    opener = page.get_by_role("button", name="Open menu")
    for width in (320, 360, 768):
        page.set_viewport_size({"width": width, "height": 800})
        opener.click()
        page.get_by_role("button", name="demo").click()
        expect(page.get_by_role("button", name="Sign out"), str(width)).to_be_visible()
        # axe's other rules don't depend on the width; `test_every_page.py` checks them.
        if result := barriers_of_colour(page):
            wrong[width] = result
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.locator(":popover-open"), str(width)).to_have_count(0)
    assert wrong == {}
    troubles.clear()  # axe itself violates the policy.


def test_cancel_and_roll_back_stay_side_by_side(page: Page, server: Running) -> None:
    [[page_id, audience_id]] = execute(server, PUBLISHED_BEFORE)
    log_in(page, to=f"/pages/{page_id}/audiences/{audience_id}/versions/")
    roll_back = page.get_by_role("link", name="Roll back to").first
    number = roll_back.inner_text().rsplit(maxsplit=1)[-1]
    roll_back.click()
    dialog = page.get_by_role("dialog")
    reason = dialog.get_by_label("Reason, optional")
    expect(reason).to_be_visible()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        cancel = dialog.get_by_role("link", name="Cancel").bounding_box()
        back = dialog.get_by_role("button", name=f"Roll back to {number}").bounding_box()
        field = reason.bounding_box()
        assert cancel, width
        assert back, width
        assert field, width
        assert cancel["y"] == back["y"], width
        assert cancel["x"] < back["x"], width
        assert (field["y"] < back["y"]) is (width == 390), width


def test_menus_stay_in_the_window_without_anchors(page: Page) -> None:
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


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize("name", ["demo", "publisher", "viewer"])
def test_no_list_is_wider_than_a_phone(name: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, name)
    widths, cut = {}, {}
    for path in (*LISTS, *(OF_ADMINISTRATORS if name == "demo" else ())):
        page.goto(path, wait_until="domcontentloaded")
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
        cut[path] = page.evaluate(CUT_TABLES)
    assert {path: width for path, width in widths.items() if width != 390} == {}
    assert {path: tables for path, tables in cut.items() if tables} == {}


def test_a_phone_shows_the_words_of_an_outcome(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, to="/activity/")
    outcomes = page.locator(".log summary > span:has(> .badge)")
    assert outcomes.count() > 5
    cut = [badge.inner_text() for badge in outcomes.all() if not badge.evaluate(HAS_ROOM)]
    assert cut == []


def test_a_tablet_leaves_room_for_the_names_of_releases(page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    log_in(page, to="/releases/")
    names = page.locator(".agenda tbody tr:not(.group) th")
    assert min(name.evaluate("(name) => name.clientWidth") for name in names.all()) > 150


def test_release_facts_fit_a_phone(page: Page, server: Running) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, to=addresses(server)["release scheduled"])
    facts = page.locator("main .head p").first.bounding_box()
    assert facts
    assert facts["width"] > 340
