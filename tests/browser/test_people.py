"""People in a browser: search while typing, open and close by keyboard, export as a file."""

import csv
import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Route, expect

from tests.browser.conftest import log_in, until


def search_for(page: Page, words: str) -> None:
    """Type into the search and wait for its results."""
    page.get_by_role("searchbox", name="Search people").press_sequentially(words)
    expect(page.locator("#people-count")).to_contain_text(f"“{words}”")


def test_three_letters_find_people_and_back_undoes_it(page: Page) -> None:
    log_in(page, to="/people/")
    page.evaluate("() => { window.sameDocument = true; }")
    search_for(page, "bri")
    search = page.get_by_role("searchbox", name="Search people")
    expect(search).to_be_focused()
    expect(search).to_have_value("bri")
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(50)
    expect(rows.filter(has=page.locator("mark"))).to_have_count(50)
    expect(rows.first.locator("mark").first).to_have_text(re.compile("bri", re.IGNORECASE))
    expect(page).to_have_url(re.compile(r"/people/\?q=bri$"))
    assert page.evaluate("() => window.sameDocument") is True
    page.go_back()
    expect(page.locator("#people-count")).to_have_text("5,000 people")
    expect(search).to_have_value("")
    expect(page).to_have_url(re.compile(r"/people/$"))
    page.go_forward()
    expect(search).to_have_value("bri")
    expect(page.locator("#people-count")).to_contain_text("match “bri”")


def test_a_slow_answer_to_fewer_letters_never_lands(page: Page) -> None:
    log_in(page, to="/people/")
    first_letter = re.compile(r"/people/\?q=b$")
    page.route(first_letter, lambda _route: None)
    search = page.get_by_role("searchbox", name="Search people")
    with page.expect_request(first_letter):
        search.press("b")
    with page.expect_event("requestfailed", lambda request: bool(first_letter.search(request.url))):
        search.press_sequentially("right")
    expect(page.locator("#people-count")).to_contain_text("“bright”")
    expect(search).to_have_value("bright")
    expect(page).to_have_url(re.compile(r"/people/\?q=bright$"))


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize(
    ("address", "field", "row"),
    [("/people/", "Search people", "#rows tr"), ("/pages/", "Search name, title", "#rows tr")],
)
def test_a_slow_search_shows_no_old_results(page: Page, address: str, field: str, row: str) -> None:
    log_in(page, to=address)
    held: list[Route] = []
    page.route(re.compile(r"\?q="), lambda route: held.insert(0, route))
    page.get_by_role("searchbox", name=field).press_sequentially("br")
    busy = page.locator("main .busy")
    expect(busy).to_be_visible()
    expect(page.locator(row).first).to_be_hidden()
    until(page, lambda: bool(held))
    for route in held:
        with suppress(Error):  # The page may have aborted it.
            route.continue_()
    expect(busy).to_be_hidden()
    expect(page.locator(row).first).to_be_visible()


def test_keys_continue_below_loaded_rows(page: Page) -> None:
    log_in(page, to="/people/?q=bright")
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="Load 50 more").press("Enter")
    expect(rows).to_have_count(100)
    expect(rows.nth(50).locator("a")).to_be_focused()
    expect(page.locator("#list-pagination")).to_contain_text("100 of")
    expect(page).to_have_url(re.compile(r"/people/\?q=bright&show=100$"))
    page.reload()
    expect(rows).to_have_count(100)


def test_a_person_is_opened_and_left_by_keyboard(page: Page) -> None:
    log_in(page, to="/people/?q=bright")
    page.get_by_role("link", name="Load 50 more").press("Enter")
    link = page.locator("#rows tr").nth(60).locator("a")
    name = link.inner_text()
    link.press("Enter")
    heading = page.locator("#person h2")
    expect(heading).to_have_text(name)
    expect(heading).to_be_focused()
    expect(page.locator("#rows tr.selected")).to_have_count(1)
    expect(link).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile("person=prospect_"))
    shared = page.url
    page.keyboard.press("Escape")
    expect(page.locator("#person")).to_be_hidden()
    expect(link).to_be_focused()
    expect(page.locator("#rows tr")).to_have_count(100)
    expect(page.locator("#rows tr.selected")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/people/\?q=bright&show=100$"))
    page.goto(shared)
    expect(heading).to_have_text(name)
    expect(page.locator("#rows tr")).to_have_count(100)
    expect(page.locator("#rows tr.selected")).to_be_in_viewport()
    page.get_by_role("link", name="Close").click()
    expect(page.locator("#person")).to_be_hidden()


def test_back_closes_a_person_and_keeps_the_search(page: Page) -> None:
    log_in(page, to="/people/")
    search_for(page, "bright")
    page.get_by_role("link", name="Load 50 more").press("Enter")
    link = page.locator("#rows tr").nth(60).locator("a")
    link.click()
    expect(page.locator("#person h2")).to_have_text(link.inner_text())
    page.locator("#person-next").click()
    expect(page.locator("#rows tr").nth(61)).to_have_class("selected")
    page.go_back()
    expect(page.locator("#person")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/people/\?q=bright&show=100$"))
    expect(page.locator("#rows tr")).to_have_count(100)
    expect(page.locator("#rows tr.selected")).to_have_count(0)
    expect(page.locator("#rows tr").nth(61).locator("a")).to_be_focused()
    page.go_forward()
    expect(page.locator("#person")).to_be_visible()
    page.go_back()
    expect(page.locator("#person")).to_be_hidden()
    expect(page.locator("#people-count")).to_contain_text("match “bright”")
    page.go_back()
    expect(page.locator("#people-count")).to_have_text("5,000 people")


def test_back_from_a_person_on_a_phone_opens_people(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, to="/people/?q=bright")
    page.locator("#rows a").first.click()
    expect(page.locator("#person h2")).to_be_visible()
    page.go_back()
    expect(page.locator("#person")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/people/\?q=bright$"))
    expect(page.locator("#rows tr")).to_have_count(50)


def test_back_from_an_audience_returns_to_its_person(page: Page) -> None:
    log_in(page, to="/people/?q=bright")
    page.get_by_role("link", name="Load 50 more").press("Enter")
    page.locator("#rows tr").nth(60).locator("a").click()
    heading = page.locator("#person h2")
    expect(heading).to_be_focused()
    name = heading.inner_text()
    page.goto("/activity/")
    page.go_back()
    expect(heading).to_have_text(name)
    expect(page.locator("#rows tr")).to_have_count(100)
    expect(page.locator("#rows tr.selected")).to_be_in_viewport()
    page.go_back()
    expect(page.locator("#person")).to_be_hidden()
    expect(page.locator("#rows tr")).to_have_count(100)


def test_a_person_who_was_closed_leaves_no_step_behind(page: Page) -> None:
    log_in(page, to="/people/?q=bright")
    steps = page.evaluate("history.length")
    for _ in range(2):
        page.locator("#rows a").first.click()
        expect(page.locator("#person h2")).to_be_focused()
        page.get_by_role("link", name="Close").click()
        expect(page.locator("#person")).to_be_hidden()
    assert page.evaluate("history.length") == steps + 1
    expect(page).to_have_url(re.compile(r"/people/\?q=bright$"))


def test_the_arrows_lead_from_person_to_person(page: Page) -> None:
    log_in(page, to="/people/?q=bright")
    names = page.locator("#rows a").all_inner_texts()
    page.locator("#rows a").first.press("Enter")
    heading = page.locator("#person h2")
    expect(heading).to_have_text(names[0])
    onward = page.locator("#person-next")
    onward.press("Enter")
    expect(heading).to_have_text(names[1])
    expect(onward).to_be_focused()
    onward.press("Enter")
    expect(heading).to_have_text(names[2])
    expect(page.locator("#rows tr").nth(2)).to_have_class("selected")
    page.get_by_role("link", name="Previous person").press("Enter")
    expect(heading).to_have_text(names[1])


def test_an_export_shows_progress_and_saves_every_row(page: Page) -> None:
    log_in(page, to="/people/")
    with page.expect_download() as saving:
        page.get_by_role("link", name="Export 5,000 as CSV").click()
    expect(page.locator("#people-saved")).to_have_text("Saved 5,000 rows")
    assert re.fullmatch(r"people-\d{4}-\d\d-\d\d\.csv", saving.value.suggested_filename)
    with saving.value.path().open(newline="", encoding="utf-8-sig") as file:
        assert len(list(csv.reader(file))) == 5_001


def test_a_cut_export_is_not_reported_as_complete(page: Page) -> None:
    log_in(page, to="/people/")
    cut = '\ufeffPerson\r\nprospect_1\r\n"Incomplete, 1 of 5,000 exported: No response."\r\n'
    page.route(
        "**/people/export.csv", lambda route: route.fulfill(body=cut, content_type="text/csv")
    )
    page.get_by_role("link", name="Export 5,000 as CSV").click()
    expect(page.locator("#people-saved")).to_have_text("Incomplete: see the last line of the file")


def test_an_export_that_never_began_leads_to_the_reason(page: Page) -> None:
    log_in(page, to="/people/")
    page.context.clear_cookies()
    page.get_by_role("link", name="Export 5,000 as CSV").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_failed_search_is_shown_in_place(page: Page, troubles: list[str]) -> None:
    log_in(page, to="/people/")
    page.route(re.compile(r"/people/\?q="), lambda route: route.abort())
    search = page.get_by_role("searchbox", name="Search people")
    search.press_sequentially("bri")
    expect(page.get_by_role("alert")).to_contain_text("Pressroom is unreachable")
    page.unroute_all()
    search.press_sequentially("ght")
    expect(page.locator("#people-count")).to_contain_text("“bright”")
    expect(page.get_by_role("alert")).to_have_count(0)
    troubles.clear()


def test_without_javascript_people_are_found_opened_and_left(plain_page: Page) -> None:
    page = log_in(plain_page, to="/people/")
    page.get_by_role("searchbox", name="Search people").fill("bright")
    page.keyboard.press("Enter")
    expect(page.locator("#rows mark").first).to_be_visible()
    page.get_by_role("link", name="Load 50 more").click()
    expect(page.locator("#list-pagination")).to_contain_text("51 to 100 of")
    link = page.locator("#rows a").nth(3)
    name = link.inner_text()
    link.click()
    expect(page.locator("#person h2")).to_have_text(name)
    page.get_by_role("link", name="Close").click()
    expect(page.locator("#list-pagination")).to_contain_text("51 to 100 of")
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("#list-pagination")).to_contain_text("50 of")


def test_the_focus_ring_leaves_the_next_line_free(page: Page) -> None:
    log_in(page, to="/people/?q=ros")
    page.locator("#rows tr a").first.press("Enter")
    name = page.locator("#person-h")
    expect(name).to_be_focused()
    ring, line = name.bounding_box(), page.locator("#person header .hint").bounding_box()
    assert ring
    assert line
    assert line["y"] - (ring["y"] + ring["height"]) >= 4
