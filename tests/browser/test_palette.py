"""The palette and the keyboard shortcuts: everything is a few keys away."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, Route, expect

from tests.browser.addresses import addresses
from tests.browser.conftest import log_in, until
from tests.support.processes import Running

FIELD = "#palette-q"
CHOSEN = "#palette [aria-selected=true]"
LIGHT = "/accounts/settings/"
"""A page that is cheap to load."""
NOTE_RESPONSE = "addEventListener('htmx:afterRequest', () => { window.hasResponse = true; })"


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator(FIELD)).to_be_focused()
    expect(page.locator(CHOSEN)).to_be_visible()


def find(page: Page, words: str) -> None:
    """Type and wait for the results of all letters; those of fewer letters may come first."""
    page.keyboard.type(words)
    expect(page.locator(f"#palette [data-words='{words}'] [aria-selected=true]")).to_be_visible()
    expect(page.locator("#palette-people")).not_to_contain_text("Searching")


def id_of_an_audience(server: Running) -> str:
    return addresses(server)["audience"].rstrip("/").rsplit("/", 1)[1]


def visit_an_audience(page: Page, server: Running) -> str:
    """Log in, open an audience and return its id."""
    log_in(page, to=addresses(server)["audience"])
    return page.url.rstrip("/").rsplit("/", 1)[1]


def test_ctrl_k_words_arrow_and_enter_lead_there(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    find(page, "brightwater")
    expect(page.locator(CHOSEN)).to_contain_text("Brightwater")
    first = page.locator(CHOSEN).get_attribute("href")
    page.keyboard.press("ArrowDown")
    expect(page.locator(CHOSEN)).to_have_count(1)
    second = page.locator(CHOSEN)
    expect(page.locator(FIELD)).to_have_attribute(
        "aria-activedescendant", second.get_attribute("id") or ""
    )
    address = second.get_attribute("href")
    assert address != first
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address}")


def test_a_pasted_id_and_enter_land_on_the_audience(page: Page, server: Running) -> None:
    audience_id = id_of_an_audience(server)
    log_in(page, to=LIGHT)
    page.keyboard.press("Control+k")
    page.locator(FIELD).fill(audience_id)
    # At once, before any results have arrived.
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/audiences/{audience_id}/$"))


def test_an_id_is_the_first_in_the_list(page: Page, server: Running) -> None:
    audience_id = id_of_an_audience(server)
    log_in(page, to=LIGHT)
    open_palette(page)
    page.locator(FIELD).fill(audience_id)
    expect(page.locator("#palette h3").first).to_have_text("Exact ID match")
    expect(page.locator(CHOSEN)).to_have_attribute("href", re.compile(rf"/{audience_id}/$"))


def test_escape_gives_the_focus_back(page: Page) -> None:
    log_in(page, to=LIGHT)
    button = page.locator(".side [data-palette]")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(FIELD)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(button).to_be_focused()


def test_the_number_of_results_is_announced_and_people_follow(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    find(page, "bright")
    expect(page.locator("#palette-people [role=option]").first).to_be_visible()
    count = page.locator("#palette [role=option]").count()
    expect(page.locator("#palette-announcement")).to_have_text(f"{count} results")
    ids = [option.get_attribute("id") for option in page.locator("#palette [role=option]").all()]
    assert len(set(ids)) == count


def hold(route: Route, held: list[Route]) -> None:
    """Hold back a request."""
    held.append(route)


def test_a_late_answer_never_replaces_a_newer_one(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    held: list[Route] = []
    page.route("**/find/?q=fleet", lambda route: hold(route, held))
    with page.expect_request("**/find/?q=fleet"):
        page.keyboard.type("fleet")
    page.locator(FIELD).fill("activity")
    expect(page.locator(CHOSEN)).to_have_text("Activity")
    expect(page.locator("#palette-people")).to_contain_text("No people match")
    assert len(held) == 1
    expect(page.locator("#palette [data-words]")).to_have_attribute("data-words", "activity")


def test_results_of_another_query_are_never_shown(page: Page, server: Running) -> None:
    visit_an_audience(page, server)
    open_palette(page)
    visited = page.locator("#palette h3", has_text="Recently visited")
    expect(visited).to_be_visible()
    held: list[Route] = []
    page.route("**/find/?q=hans*", lambda route: hold(route, held))
    with page.expect_request("**/find/?q=hans"):
        page.keyboard.type("hans")
    expect(visited).to_be_hidden()
    expect(page.locator(CHOSEN)).to_be_hidden()
    expect(page.locator("#palette-list")).to_have_text("Searching…")
    expect(page.locator("#palette-announcement")).to_have_text("Searching…")
    assert page.locator(FIELD).get_attribute("aria-activedescendant") is None
    held[0].continue_()
    expect(page.locator(CHOSEN)).to_contain_text("Hans")
    expect(page.locator("#palette-list")).not_to_contain_text("Searching…")


def test_results_of_an_outdated_search_are_not_shown(timed_page: Page) -> None:
    page = timed_page
    log_in(page, to=LIGHT)
    open_palette(page)
    held: list[Route] = []
    page.route("**/find/?q=act*", lambda route: hold(route, held))
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    page.keyboard.insert_text("act")
    with page.expect_request("**/find/?q=act"):
        page.clock.run_for(1000)
    page.keyboard.insert_text("i")
    page.evaluate(NOTE_RESPONSE)
    held[0].continue_()
    until(page, lambda: page.evaluate("window.hasResponse"))
    expect(page.locator("#palette-list")).to_have_text("Searching…")
    page.clock.run_for(1000)
    until(page, lambda: len(held) == 2)
    held[1].continue_()
    expect(page.locator(CHOSEN)).to_have_text("Activity")


def test_enter_before_the_results_opens_the_first_of_them(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    page.keyboard.type("activity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/activity/")


def test_enter_that_ends_an_input_method_opens_nothing(page: Page) -> None:
    log_in(page)
    open_palette(page)
    # Safari sends it after the composition, and only its key code marks it.
    was_prevented = page.locator(FIELD).evaluate(
        """field => !field.dispatchEvent(new KeyboardEvent("keydown",
            {key: "Enter", keyCode: 229, bubbles: true, cancelable: true}))"""
    )
    assert not was_prevented
    expect(page.locator(FIELD)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(FIELD)).to_be_hidden()


def test_enter_goes_to_the_page_where_the_search_failed(page: Page, troubles: list[str]) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    page.route("**/find/?q=hans", lambda route: route.abort(), times=1)
    page.keyboard.type("hans")
    expect(page.locator("#palette-announcement")).to_contain_text("Couldn’t search")
    page.keyboard.press("Enter")
    page.wait_for_url("**/find/?q=hans")
    troubles.clear()


def test_the_palette_ignores_accents_and_needs_few_keys(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    find(page, "kuhllogistik")
    expect(page.locator(CHOSEN)).to_contain_text("Kühllogistik")
    page.locator(FIELD).fill("")
    find(page, "hans")
    locator = page.locator("#palette h3", has_text=re.compile(r"^Audiences: 6 of \d+$"))
    expect(locator).to_be_visible()
    page.get_by_role("option", name=re.compile(r"^All \d+ audiences matching “hans”$")).click()
    page.wait_for_url("**/find/?q=hans&all=audiences")
    expect(page.locator("main")).to_contain_text("Hanseatic Kühllogistik")


def test_signing_out_is_a_few_keys_away(page: Page) -> None:
    log_in(page, to=LIGHT)
    open_palette(page)
    for words in ("log out", "sign out"):
        page.locator(FIELD).fill("")
        find(page, words)
        expect(page.locator(CHOSEN), words).to_have_text("Sign out")
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/login/**")


def test_what_was_visited_is_offered_before_a_word(page: Page, server: Running) -> None:
    audience_id = visit_an_audience(page, server)
    open_palette(page)
    expect(page.locator("#palette h3").first).to_have_text("Recently visited")
    expect(page.locator(CHOSEN)).to_have_attribute("href", re.compile(rf"/{audience_id}/$"))


def test_shortcuts_lead_to_search_sections_and_help(page: Page) -> None:
    log_in(page, to=LIGHT)
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/pages/")
    page.keyboard.press("j")
    expect(page.locator("tbody th a").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("tbody th a").nth(1)).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("g?k")
    expect(page.locator("#q")).to_have_value("g?k")
    page.locator("tbody th a, .empty a").first.focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)


def test_single_keys_can_be_switched_off(page: Page) -> None:
    log_in(page, to="/webhooks/?state=off")
    page.get_by_role("button", name="demo", exact=True).click()
    page.get_by_label("Single-key shortcuts").uncheck()
    expect(page.locator("body")).to_have_attribute("data-keys", "off")
    page.wait_for_load_state()
    page.keyboard.press("?")
    open_palette(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    page.get_by_role("button", name="demo").click()
    page.get_by_role("link", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="demo").click()
    page.get_by_label("Single-key shortcuts").check()
    expect(page.locator("body")).not_to_have_attribute("data-keys", "off")


def test_p_publishes_the_focused_row_only(page: Page) -> None:
    log_in(page, to="/pages/?q=last-mile")
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/pages/*/")
    row = page.locator("main tr", has=page.locator("a[href$='/publish/']:visible")).last
    page.keyboard.press("p")
    expect(page.get_by_role("dialog")).to_have_count(0)
    row.locator("th a").focus()
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name=re.compile(r"^Publish version \d+\?"))).to_be_visible()
    expect(page.get_by_role("dialog")).to_contain_text(row.locator("th a").inner_text())


def test_nothing_opens_over_a_dialog(page: Page) -> None:
    log_in(page, to=LIGHT)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()


def test_without_javascript_the_button_is_a_link(plain_page: Page) -> None:
    page = log_in(plain_page, to=LIGHT)
    page.locator(".side [data-palette]").click()
    for words in ("Brightwater", ""):
        page.get_by_label("Page, audience, person, ID or command").first.fill(words)
        page.get_by_role("button", name="Search").click()
        page.wait_for_url(f"**/find/?q={words}*")
        expect(page.locator("#find-results a").first, words).to_be_visible()


def test_the_palette_opens_after_back_reloads_the_page(page: Page) -> None:
    log_in(page, to="/people/")
    open_palette(page)
    find(page, "brightwater")
    page.keyboard.press("Escape")
    page.get_by_role("searchbox", name="Search people").fill("fleet")
    page.wait_for_url("**/people/?q=fleet")
    page.go_back()
    page.wait_for_url("**/people/")
    expect(page.locator("#people-q")).to_have_value("")
    open_palette(page)
    find(page, "brightwater")


def test_on_the_log_in_no_key_does_anything(page: Page) -> None:
    page.goto("/accounts/login/")
    page.evaluate("document.activeElement.blur()")
    for key in ("Control+k", "?", "/", "g", "o", "j", "e", "[", "c", "r", "Escape"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.locator("dialog")).to_have_count(0)
    assert page.url.endswith("/accounts/login/")
