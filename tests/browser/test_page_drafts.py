"""A whole page, typed by keyboard alone: with scripts or without, and after the session ended."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import end_session, log_in, open_page, until
from tests.browser.whole_page import (
    ALL_ROWS,
    SUBMIT,
    Rows,
    all_but_metadata,
    assert_holds_all,
    choose_header_action,
    fill_metadata,
    tab_to,
    type_at,
    write_actions,
    write_basics,
    write_cards,
    write_footer,
    write_metadata,
    write_scripts,
)
from tests.support.matrix import sampled

NEW = "/pages/new/"


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def has_scripts(request: pytest.FixtureRequest) -> bool:
    """Whether the page runs scripts."""
    return bool(request.param)


@pytest.fixture
def typed_page(request: pytest.FixtureRequest, has_scripts: bool) -> Page:
    """A tab with scripts or without."""
    page: Page = request.getfixturevalue("page" if has_scripts else "plain_page")
    return page


@pytest.fixture
def rows(pytestconfig: pytest.Config) -> Rows:
    """Number of rows of a whole page: two of each kind, or more with --exhaustive."""
    return ALL_ROWS if pytestconfig.getoption("exhaustive") else Rows()


def write_whole(
    page: Page, name: str, rows: Rows, choose: Callable[[Page], None] = choose_header_action
) -> None:
    """Fill in the whole form, from its first field to its last."""
    write_basics(page, name)
    write_actions(page, rows)
    choose(page)
    write_cards(page, rows)
    write_footer(page)
    write_scripts(page, rows)
    write_metadata(page)


def choose_once_it_is_looked_at(page: Page) -> None:
    """Refresh the list of the actions, as no script does it, and choose the second."""
    tab_to(page, "button[name=rows][value=refresh]", back=True)
    page.keyboard.press("Enter")
    page.locator("option[value='act-b']").wait_for(state="attached")
    page.wait_for_load_state()
    tab_to(page, "[id='name']")
    tab_to(page, "[id='headerActionId']")
    page.keyboard.type("Button B")


def create(page: Page, name: str, rows: Rows) -> None:
    """Press Create page, and see that the page holds all that was typed."""
    tab_to(page, SUBMIT)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.wait_for_load_state()
    assert_holds_all(page, name, rows)


def save_all_but_metadata(page: Page, name: str, rows: Rows) -> None:
    """Save a draft as the form does after all fields but the metadata were typed."""
    form = page.evaluate(
        "Object.fromEntries(new FormData(document.querySelector('[data-page-form]')))"
    )
    saved = page.request.post(f"{NEW}draft/", form=form | all_but_metadata(name, rows))
    assert "Draft saved" in saved.text()


def ask_for_rows(page: Page, button: str) -> Route:
    """Press a button of the rows, and return its request, which is held back."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if not held and "rows=" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route(f"**{NEW}rows/", hold)
    page.get_by_role("button", name=button, exact=True).first.press("Enter")
    until(page, lambda: bool(held))
    return held[0]


def field(page: Page, field_id: str) -> Locator:
    return page.locator(f"[id='{field_id}']")


def sign_in_again(page: Page, name: str = "demo") -> None:
    """Fill in the login page. The wait matters, as the form before it has a name field, too."""
    page.wait_for_url("**/accounts/login/**")
    page.get_by_label("Username", exact=True).fill(name)
    page.get_by_label("Password").fill(name)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.matrix(cells=1)
def test_a_whole_page_is_created_by_keyboard_alone(
    typed_page: Page, has_scripts: bool, rows: Rows
) -> None:
    log_in(typed_page, to=NEW)
    choose = choose_header_action if has_scripts else choose_once_it_is_looked_at
    write_whole(typed_page, "All by keyboard", rows, choose)
    create(typed_page, "All by keyboard", rows)
    typed_page.goto(NEW)
    expect(typed_page.get_by_text("All by keyboard")).to_have_count(0)


def test_a_page_is_created_across_a_lost_session(
    page: Page, context: BrowserContext, rows: Rows
) -> None:
    log_in(page, to=NEW)
    save_all_but_metadata(page, "All though signed out", rows)
    page.reload()
    page.get_by_role("link", name="Resume All though signed out").click()
    expect(field(page, f"scripts.{rows.scripts - 1}.content")).to_be_attached()
    end_session(context)
    fill_metadata(page)
    expect(page.locator("#draft-status")).to_contain_text("You’re signed out")
    tab_to(page, SUBMIT)
    page.keyboard.press("Enter")
    sign_in_again(page)
    expect(page.get_by_text("This is your draft from")).to_be_visible()
    create(page, "All though signed out", rows)


def test_without_javascript_or_cookies_the_form_survives_log_in(plain_page: Page) -> None:
    page = log_in(plain_page, to=NEW)
    write_basics(page, "Kept without scripts")
    page.context.clear_cookies()
    tab_to(page, SUBMIT)
    page.keyboard.press("Enter")
    sign_in_again(page)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Kept without scripts")
    page.locator(SUBMIT).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kept without scripts")


def test_a_tab_that_is_closed_leaves_its_last_words(
    page: Page, context: BrowserContext, troubles: list[str]
) -> None:
    log_in(page, to=NEW)
    type_at(page, "name", "Closed at once")
    page.close(run_before_unload=True)
    later = open_page(context, troubles)
    go_on = later.get_by_role("link", name="Resume Closed at once")

    def is_kept() -> bool:
        later.goto(NEW)
        return go_on.count() == 1

    until(later, is_kept)
    go_on.click()
    expect(later.get_by_label("Name", exact=True)).to_have_value("Closed at once")
    later.goto(NEW)
    later.get_by_role("button", name="Discard Closed at once").click()
    expect(go_on).to_have_count(0)


def test_a_field_is_checked_on_leaving_it(page: Page) -> None:
    log_in(page, to=NEW)
    type_at(page, "actions.0.url", "javascript:alert(1)")
    page.keyboard.press("Tab")
    message = page.locator("[id='actions.0.url_error']")
    expect(message).to_contain_text("Start with https://")
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    expect(page.locator("[id='actions.0.url']")).not_to_be_focused()
    tab_to(page, "[id='actions.0.url']", back=True)
    page.keyboard.press("Control+a")
    page.keyboard.type("https://a.example")
    page.keyboard.press("Tab")
    expect(message).to_be_hidden()
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_a_check_disturbs_neither_typing_nor_the_focus(page: Page) -> None:
    log_in(page, to=NEW)
    type_at(page, "name", "First")
    page.keyboard.press("Tab")
    tab_to(page, "[id='pageContext']")
    with page.expect_response(lambda answer: answer.url.endswith("/draft/")):
        page.keyboard.type("Typed without a pause while checks and saves come back. " * 2)
    expect(page.get_by_label("Context")).to_have_value(
        "Typed without a pause while checks and saves come back. " * 2
    )
    expect(page.get_by_label("Context")).to_be_focused()


def test_previews_and_findings_follow_the_typing(page: Page) -> None:
    log_in(page, to=NEW)
    type_at(page, "metadata.title", "Eight ch")
    expect(page.locator("#previews")).to_contain_text("Title 72 of 600 px")
    expect(page.locator("[id='metadata.title']")).to_be_focused()


def test_typing_while_adding_a_row_keeps_text_and_focus(page: Page) -> None:
    log_in(page, to=NEW)
    added = ask_for_rows(page, "Add another action")
    page.get_by_role("radio").last.check()
    field(page, "actions.0.buttonTitle").press_sequentially("Book a call")
    page.keyboard.press("Home")
    added.continue_()
    expect(field(page, "actions.1.buttonTitle")).to_be_visible()
    expect(field(page, "actions.0.buttonTitle")).to_have_value("Book a call")
    expect(page.get_by_role("radio").last).to_be_checked()
    expect(field(page, "actions.0.buttonTitle")).to_be_focused()
    page.keyboard.type("Please: ")
    expect(field(page, "actions.0.buttonTitle")).to_have_value("Please: Book a call")


def test_input_typed_while_adding_a_row_is_saved(page: Page) -> None:
    log_in(page, to=NEW)
    added = ask_for_rows(page, "Add another action")
    field(page, "metadata.ogTitle").evaluate("(it) => it.closest('details').open = true")
    field(page, "metadata.ogTitle").press_sequentially("Shared")
    with page.expect_request("**/draft/") as request_info:
        added.continue_()
    assert "metadata.ogTitle=Shared" in (request_info.value.post_data or "")
    expect(field(page, "metadata.ogTitle")).to_be_visible()


MOVES = {
    "Move action 2 up": ["in 2", "in 1"],
    "Move action 1 down": ["in 2", "in 1"],
    "Move action 1 up": ["in 1", "in 2"],
    "Remove action 1": ["in 2"],
    "Remove action 2": ["in 1"],
}
"""Texts of two actions after each button. A run presses two of the five buttons."""


def test_text_typed_while_rows_move_stays_with_its_row(
    page: Page, pytestconfig: pytest.Config
) -> None:
    log_in(page, to="/health/live")
    moves = {button: MOVES[button] for button in sampled(MOVES, pytestconfig, turn=0, of=3)}
    held: dict[str, list[str]] = {}
    focused: dict[str, str] = {}
    for button, expected in moves.items():
        page.goto(NEW)
        page.get_by_role("button", name="Add another action").press("Enter")
        expect(field(page, "actions.1.purpose")).to_be_visible()
        request = ask_for_rows(page, button)
        field(page, "actions.0.purpose").press_sequentially("in 1")
        field(page, "actions.1.purpose").press_sequentially("in 2")
        with page.expect_request("**/draft/"):
            request.continue_()
        purposes = page.locator("[id$='.purpose']")
        expect(purposes, button).to_have_count(len(expected))
        held[button] = [box.input_value() for box in purposes.all()]
        focused[button] = page.evaluate("document.activeElement.value")
        page.unroute_all()
    assert held == moves
    second = {button: "in 2" for button, expected in moves.items() if "in 2" in expected}
    assert {button: focused[button] for button in second} == second


SECOND = {"Remove action 2": (2, 0), "Add a group": (3, 1), "Move action 1 down": (3, 0)}
"""Number of actions and groups at the end, by the button that is pressed second. A run presses one
of them."""


def test_a_row_button_waits_for_the_response_of_another(
    page: Page, pytestconfig: pytest.Config
) -> None:
    log_in(page, to="/health/live")
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.url) if sent.method == "POST" else None)
    for second in sampled(SECOND, pytestconfig, turn=0, of=3):
        actions, groups = SECOND[second]
        page.goto(NEW)
        page.get_by_role("button", name="Add another action").press("Enter")
        expect(field(page, "actions.1.purpose"), second).to_be_visible()
        first = ask_for_rows(page, "Add another action")
        posts.clear()
        other = page.get_by_role("button", name=second, exact=True)
        expect(other, second).to_be_disabled()
        expect(page.get_by_role("button", name="Create page")).to_be_disabled()
        expect(page.get_by_role("button", name="Add another action")).to_be_focused()
        other.click(force=True)
        page.get_by_role("button", name="Add another action").press("Enter")
        field(page, "actions.0.purpose").press("Enter")
        first.continue_()
        expect(field(page, "actions.2.purpose"), second).to_be_visible()
        assert posts == [], f"sent while another was awaited: {second}"
        expect(other, second).to_be_enabled()
        with page.expect_response(lambda response: response.request.method == "POST") as answered:
            other.press("Enter")
        assert answered.value.status == 200, second
        expect(page.locator("[id^='actions.'][id$='.purpose']"), second).to_have_count(actions)
        expect(field(page, "footerLinks.0.title"), second).to_have_count(groups)
        page.unroute_all()


def test_the_row_buttons_work_again_after_a_failure(
    page: Page, context: BrowserContext, troubles: list[str]
) -> None:
    log_in(page, to=NEW)
    add = page.get_by_role("button", name="Add another action")
    first = ask_for_rows(page, "Add another action")
    expect(page.get_by_role("button", name="Create page")).to_be_disabled()
    first.abort()
    expect(page.get_by_role("button", name="Create page")).to_be_enabled()
    expect(add).to_be_focused()
    add.press("Enter")
    expect(field(page, "actions.1.purpose")).to_be_visible()
    troubles.clear()


def test_offline_sends_nothing_and_keeps_the_text(lone_page: Page, troubles: list[str]) -> None:
    page = log_in(lone_page, to=NEW)
    line = page.locator("#draft-status")
    field(page, "name").press_sequentially("Typed on the train")
    expect(line).to_contain_text("Draft saved")
    page.context.set_offline(True)
    field(page, "metadata.title").press_sequentially("Tunnel")
    expect(line).to_have_text("Not saved: no connection.")
    create = page.get_by_role("button", name="Create page")
    create.press("Enter")
    expect(line).to_have_text("Not saved: no connection. Nothing was sent.")
    expect(create).not_to_have_attribute("aria-busy", "true")
    expect(field(page, "metadata.title")).to_have_value("Tunnel")
    with page.expect_request("**/draft/") as request_info:
        page.context.set_offline(False)
    assert "metadata.title=Tunnel" in (request_info.value.post_data or "")
    expect(line).to_contain_text("Draft saved")
    troubles.clear()


def test_a_form_sent_at_once_waits_for_its_draft(page: Page) -> None:
    log_in(page, to=NEW)
    posted: list[str] = []
    page.on("request", lambda it: posted.append(it.url) if it.method == "POST" else None)
    field(page, "pageContext").fill("All of it")
    field(page, "name").fill("Sent at once")
    page.get_by_role("button", name="Create page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sent at once")
    page.goto(NEW)
    expect(page.get_by_text("Sent at once")).to_have_count(0)
    assert [url for url in posted if url.endswith("/draft/")]


def test_a_failed_save_is_shown_and_repeated(page: Page, troubles: list[str]) -> None:
    log_in(page, to=NEW)
    page.route("**/draft/", lambda route: route.fulfill(status=503), times=1)
    field(page, "name").press_sequentially("Typed")
    expect(page.locator("#draft-status")).to_have_text("Not saved: server error.")
    field(page, "name").press_sequentially(" on")
    expect(page.locator("#draft-status")).to_contain_text("Draft saved")
    troubles.clear()


def test_a_long_draft_name_fits_the_page(page: Page) -> None:
    log_in(page, to=NEW)
    with page.expect_response(lambda answer: answer.url.endswith("/draft/")):
        page.get_by_label("Name", exact=True).fill("W" * 5_000)
    page.goto(NEW)
    name = page.locator("[aria-labelledby=drafts-h] b", has_text="WWW").first
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        expect(name, str(width)).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
    page.get_by_role("button", name="Discard WWW").first.click()


def test_a_form_too_large_to_send_is_kept(page: Page, troubles: list[str]) -> None:
    log_in(page, to=NEW)
    field(page, "pageContext").evaluate("(it) => { it.value = 'x'.repeat(2_700_000); }")
    field(page, "name").fill("Too large")
    status = page.locator("#draft-status")
    expect(status).to_have_text("Not saved: form too large.")
    page.get_by_role("button", name="Create page").click()
    expect(status.get_by_role("alert")).to_have_text("Not saved: form too large. Nothing was sent.")
    assert page.evaluate("document.getElementById('pageContext').value.length") == 2_700_000
    field(page, "pageContext").fill("Short")
    page.get_by_role("button", name="Create page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Too large")
    troubles.clear()  # The browser logs a 413.
