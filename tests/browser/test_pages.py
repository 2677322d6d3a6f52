"""Pages in a browser: found while typing, created by keyboard alone, and without JavaScript."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.addresses import execute
from tests.browser.conftest import log_in
from tests.support.processes import Running

WITH_MOST_AUDIENCES = """SELECT page_id FROM ledger_audiencerecord
  GROUP BY page_id ORDER BY count(*) DESC, page_id LIMIT 1"""


def type_into(page: Page, field_id: str, words: str) -> None:
    """Wait until the page is loaded, focus a field and type into it."""
    page.wait_for_load_state()
    page.locator(f"[id='{field_id}']").focus()
    page.keyboard.type(words)


def press(page: Page, name: str) -> None:
    """Press a button with the keyboard."""
    page.get_by_role("button", name=name, exact=True).first.focus()
    page.keyboard.press("Enter")


def write_a_page(page: Page, name: str) -> None:
    """Fill in the form by keyboard: two actions, reordered, and a group with a link."""
    log_in(page, to="/pages/new/")
    type_into(page, "name", name)
    type_into(page, "pageContext", "For carriers of 20 to 200 vehicles.")
    type_into(page, "actions.0.buttonTitle", "Book a call")
    type_into(page, "actions.0.actionId", "book")
    press(page, "Add another action")
    expect(page.locator("[id='actions.1.buttonTitle']")).to_be_visible()
    type_into(page, "actions.1.buttonTitle", "Get the prices")
    press(page, "Move action 2 up")
    expect(page.locator("[id='actions.0.buttonTitle']")).to_have_value("Get the prices")
    press(page, "Add a group")
    expect(page.locator("[id='footerLinks.0.title']")).to_be_visible()
    type_into(page, "footerLinks.0.title", "Legal")
    press(page, "Add a link")
    expect(page.locator("[id='footerLinks.0.links.0.text']")).to_be_visible()
    type_into(page, "footerLinks.0.links.0.text", "Imprint")
    if page.get_by_role("button", name="Refresh list").count():
        with page.expect_navigation():
            press(page, "Refresh list")
    page.get_by_label("Header action").select_option("book")


def create_and_look(page: Page, name: str) -> None:
    """Create the page, and check that it shows what was typed."""
    press(page, "Create page")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator("#messages")).to_contain_text(f"Created “{name}”.")
    rows = page.locator("#actions tbody tr")
    expect(rows.nth(0)).to_contain_text("Get the prices")
    expect(rows.nth(1)).to_contain_text("Book a call")
    expect(rows.nth(1)).to_contain_text("Header")
    expect(page.locator("#footer")).to_contain_text("Imprint")


def test_a_page_is_created_without_javascript(plain_page: Page) -> None:
    write_a_page(plain_page, "Written without scripts")
    create_and_look(plain_page, "Written without scripts")


def test_a_brand_id_fits_its_field_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, to="/pages/new/")
    page.get_by_label("Brand ID").fill("brand_01kecrbjbgeahvz1m85px12ptj")
    assert page.get_by_label("Brand ID").evaluate("(it) => it.scrollWidth <= it.clientWidth")


def test_enter_in_a_field_leads_to_the_problem(page: Page, troubles: list[str]) -> None:
    log_in(page, to="/pages/new/")
    type_into(page, "name", "Not yet")
    page.keyboard.press("Enter")
    expect(page.locator(".problems")).to_be_focused()
    page.get_by_role("link", name="Context: Enter a context.").click()
    expect(page.get_by_label("Context")).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Not yet")
    # The browser itself logs a 422.
    assert [line for line in troubles if "422" not in line] == []
    troubles.clear()


def test_new_and_moved_rows_keep_the_keyboard(page: Page) -> None:
    log_in(page, to="/pages/new/")
    press(page, "Add another action")
    expect(page.locator("[id='actions.1.buttonTitle']")).to_be_focused()
    press(page, "Move action 2 up")
    expect(page.get_by_role("button", name="Move action 1 up")).to_be_focused()
    press(page, "Remove action 1")
    expect(page.get_by_role("button", name="Add another action")).to_be_focused()


def test_the_list_searches_while_typing(page: Page) -> None:
    log_in(page, to="/pages/")
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(50)
    page.locator("#load-more").click()
    expect(rows.nth(55)).to_be_visible()
    page.get_by_role("searchbox").press_sequentially("telematics")
    expect(page).to_have_url(re.compile(r"/pages/\?q=telematics$"))
    expect(rows).to_have_count(1)
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.reload()
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Remove filter: “telematics”").click()
    expect(rows).to_have_count(50)


def test_a_loaded_row_is_there_on_the_way_back(page: Page) -> None:
    log_in(page, to="/pages/")
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(50)
    page.locator("#load-more").click()
    link = rows.nth(52).locator("th a")
    name = link.inner_text()
    link.click()
    expect(page.locator("main").get_by_role("heading", level=1)).to_have_text(name)
    page.go_back()
    expect(rows.nth(52).locator("th a")).to_have_text(name)
    expect(page.locator("#list-pagination")).not_to_contain_text("Back to start")


def a_row_of_the_list(page: Page) -> Locator:
    log_in(page, to="/pages/?q=last-mile")
    return page.locator("#rows tr").first


def test_a_click_anywhere_in_a_row_opens_the_page(page: Page) -> None:
    a_row_of_the_list(page).get_by_text("Outbound").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Last-mile van fleets")


def test_ctrl_click_on_a_row_opens_a_new_tab(page: Page) -> None:
    row = a_row_of_the_list(page)
    with page.context.expect_page() as opened:
        row.get_by_text("Outbound").click(modifiers=["Control"])
    expect(opened.value.get_by_role("heading", level=1)).to_have_text("Last-mile van fleets")
    expect(page).to_have_url(re.compile(r"/pages/\?q=last-mile$"))


def test_selecting_text_in_a_row_opens_nothing(page: Page) -> None:
    page.clock.install()
    row = a_row_of_the_list(page)
    title = row.locator("th .secondary")
    title.dblclick(position={"x": 5, "y": 5})
    page.clock.fast_forward(1000)
    assert page.evaluate("getSelection().toString().trim()") == "Routes"
    box = title.bounding_box()
    assert box
    page.mouse.click(5, 5)
    page.mouse.move(box["x"] + 1, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 5, steps=5)
    page.mouse.up()
    page.clock.fast_forward(1000)
    assert "Routes that survive" in page.evaluate("getSelection().toString()")
    expect(page).to_have_url(re.compile(r"/pages/\?q=last-mile$"))


def test_a_row_adds_no_stop_for_the_keyboard(page: Page) -> None:
    row = a_row_of_the_list(page)
    expect(row.locator("th a")).to_have_count(1)
    expect(row.locator("button, [tabindex], [onclick], [role=link]")).to_have_count(0)


def a_page_with_many_audiences(page: Page, server: Running) -> Locator:
    """Open the page with the most audiences; return their rows."""
    [[page_id]] = execute(server, WITH_MOST_AUDIENCES)
    log_in(page, to=f"/pages/{page_id}/")
    rows = page.locator("#audience-results tbody tr")
    expect(rows).to_have_count(10)
    return rows


def test_audiences_are_filtered_in_place(page: Page, server: Running) -> None:
    rows = a_page_with_many_audiences(page, server)
    search = page.get_by_role("searchbox", name="Filter audiences by name")
    for words in ("transport", "gmbh"):
        search.fill(words)
        expect(rows.first).to_contain_text(re.compile(words, re.IGNORECASE))
        expect(page.locator("#audience-results .foot")).to_contain_text("match")
        expect(search).to_be_focused()


def test_audience_filters_survive_reload_and_back(page: Page, server: Running) -> None:
    rows = a_page_with_many_audiences(page, server)
    page.get_by_role("combobox", name="Live status").select_option("live")
    page.get_by_role("searchbox", name="Filter audiences by name").fill("gmbh")
    expect(page).to_have_url(re.compile(r"/\?q=gmbh&flag=live$"))
    expect(rows.filter(has_not_text=re.compile("gmbh", re.IGNORECASE))).to_have_count(0)
    result = rows.count()
    page.reload()
    expect(rows).to_have_count(result)
    rows.first.get_by_role("link").first.click()
    page.wait_for_url("**/audiences/*/")
    page.go_back()
    expect(rows).to_have_count(result)
    expect(page.get_by_role("combobox", name="Live status")).to_have_value("live")
    page.get_by_role("combobox", name="Live status").select_option("")
    page.get_by_role("searchbox", name="Filter audiences by name").fill("")
    expect(page).to_have_url(re.compile(r"/pages/[^/?]+/$"))


def test_what_an_audience_filter_leaves_chooses_nothing_by_itself(
    page: Page, server: Running
) -> None:
    rows = a_page_with_many_audiences(page, server)
    words = page.get_by_role("searchbox", name="Filter audiences by name")
    status = page.get_by_role("combobox", name="Status of the latest version")
    standing = page.get_by_role("combobox", name="Live status")
    words.fill("zzzz")
    expect(rows).to_have_count(0)
    words.fill("")
    expect(rows).to_have_count(10)
    expect(status).to_have_value("")
    expect(standing).to_have_value("")
    standing.focus()
    standing.select_option("live")
    expect(page.locator("#audience-results .foot")).to_contain_text("match")
    expect(standing).to_have_value("live")
    expect(status).to_have_value("")
    expect(standing).to_be_focused()
