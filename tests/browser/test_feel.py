"""How it feels: busy buttons, changes in tab titles, settings that persist."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import best, log_in, open_page, until
from tests.browser.planned import go_live
from tests.support.processes import Running

CLIPBOARDS = (
    ("null", "Copied", "#check"),
    ("delete Navigator.prototype.clipboard", "Couldn’t copy", "#x"),
)
"""What is done to the clipboard, and the button's announcement and text afterwards."""
NOTE_BUSY = """document.addEventListener("submit", (event) => {
  sessionStorage.busy = event.submitter.getAttribute("aria-busy");
})"""


def hold(route: Route, held: list[Route]) -> None:
    """Hold back a request."""
    held.append(route)


def stop_the_clock(page: Page) -> None:
    """Stop the page's time, as announcements disappear after two seconds."""
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))


def a_page_with_audiences(page: Page) -> None:
    log_in(page, to="/pages/?q=last-mile")
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/pages/*/")


def test_a_partial_button_is_busy_and_keeps_the_focus(page: Page) -> None:
    a_page_with_audiences(page)
    held: list[Route] = []
    page.route("**/accounts/pin/", lambda route: hold(route, held), times=1)
    button = page.locator("#pin-button")
    with page.expect_request("**/accounts/pin/"):
        button.press("Enter")
    expect(button).to_have_attribute("aria-busy", "true")
    until(page, lambda: bool(held))
    held[0].continue_()
    expect(button).to_have_text("Unpin")
    expect(button).not_to_have_attribute("aria-busy", "true")
    expect(button).to_be_focused()
    name = page.locator("h1").inner_text()
    expect(page.locator("#pins")).to_have_text(f"Pinned {name}")
    button.press("Enter")
    expect(page.locator("#pins")).to_have_text("")


def test_the_result_of_copying_is_shown_and_announced(timed_page: Page) -> None:
    page = timed_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    a_page_with_audiences(page)
    button = page.locator("main .id button").first
    name, before = button.get_attribute("aria-label"), button.locator("use").get_attribute("href")
    stop_the_clock(page)
    copy_json(page)
    for clipboard, message, icon in CLIPBOARDS:
        page.evaluate(clipboard)
        button.press("Enter")
        expect(button).to_have_attribute("aria-label", message)
        expect(button.locator("use")).to_have_attribute("href", re.compile(f"{icon}$"))
        page.clock.run_for(1000)
        expect(page.get_by_role("status").filter(has_text=message)).to_have_text(message)
        page.clock.run_for(1000)
        expect(button).to_have_attribute("aria-label", name or "")
        expect(button.locator("use")).to_have_attribute("href", before or "")
        expect(page.get_by_role("status").filter(has_text=message)).to_have_count(0)


def copy_json(page: Page) -> None:
    """Press a button whose own text returns after two seconds."""
    page.locator("summary", has_text="JSON").click()
    button = page.get_by_text("Copy JSON")
    button.press("Enter")
    expect(button).to_have_accessible_name("Copied")
    page.clock.run_for(2000)
    expect(button).to_have_accessible_name("Copy JSON")


def test_a_form_button_is_busy_until_the_page_loads(page: Page) -> None:
    log_in(page, to="/accounts/settings/")
    page.evaluate(NOTE_BUSY)
    button = page.get_by_role("button", name="Save settings")
    button.click()
    expect(page.locator("#messages")).to_contain_text("Settings saved.")
    assert page.evaluate("sessionStorage.busy") == "true"
    expect(button).not_to_have_attribute("aria-busy", "true")


def test_settings_apply_at_once_and_can_be_reset(page: Page) -> None:
    log_in(page, to="/accounts/settings/")
    page.get_by_label("Comfortable").check()
    page.get_by_label("Time zone").select_option("UTC")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator("html")).to_have_attribute("data-density", "comfortable")
    page.goto("/activity/")
    expect(page.locator(".bar")).to_contain_text(re.compile(r"Updated [\d:]+ UTC"))
    page.get_by_role("button", name="demo").click()
    page.get_by_label("Times in UTC").uncheck()
    expect(page.locator(".bar")).not_to_contain_text("UTC")
    page.goto("/accounts/settings/")
    page.get_by_label("Compact").check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator("html")).not_to_have_attribute("data-density", "comfortable")


def test_the_tab_title_has_search_and_attention_count(page: Page) -> None:
    log_in(page)
    expect(page).to_have_title(re.compile(r"^\(\d+\) Overview · Pressroom$"))
    page.goto("/people/")
    page.get_by_role("searchbox", name="Search people").press_sequentially("an")
    expect(page).to_have_title("“an” in people · Pressroom")


def test_the_tab_title_shows_that_the_version_is_live(page: Page, server: Running) -> None:
    log_in(page, to="/pages/?q=Cold+chain")
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/pages/*/")
    page.locator("main a[href$='/publish/']").last.click()
    dialog = page.get_by_role("dialog")
    version = dialog.get_by_role("heading", level=1).inner_text().split()[2].rstrip("?")
    dialog.get_by_role("button", name=f"Publish version {version}").click()
    expect(page).to_have_title(re.compile(rf"^Publishing version {version} · .+ · Pressroom$"))
    go_live(server)
    expect(page).to_have_title(re.compile(rf"^Version {version} is live · .+ · Pressroom$"))


def test_page_and_script_write_numbers_alike_in_any_browser(
    browser: Browser, server: Running, troubles: list[str]
) -> None:
    context = browser.new_context(base_url=server.url, locale="de-DE")
    page = log_in(open_page(context, troubles), to="/people/")
    expect(page.locator("main")).to_contain_text("5,000 people")
    page.get_by_role("link", name="Export 5,000 as CSV").click()
    expect(page.locator("#people-saved")).to_have_text("Saved 5,000 rows")
    context.close()
    assert troubles == []


def test_spinners_cost_the_page_no_frames(page: Page) -> None:
    # As `rotate:` would be, of an SVG: no compositor turns that.
    page.emulate_media(reduced_motion="no-preference")
    log_in(page, to="/pages/")
    wire = page.context.new_cdp_session(page)
    wire.send("Performance.enable")

    def styled() -> float:
        metrics = wire.send("Performance.getMetrics")["metrics"]
        return float(
            next(metric["value"] for metric in metrics if metric["name"] == "RecalcStyleCount")
        )

    def worked() -> float:
        before = styled()
        page.wait_for_timeout(500)  # thirty frames
        return styled() - before

    page.evaluate("document.querySelector('main svg.icon').classList.add('spin')")
    expect(page.locator("svg.spin")).to_be_visible()
    # Colour changes of the opening page have ended; only the spinner still turns.
    page.wait_for_function("() => document.getAnimations().length === 1")
    assert best(worked, below=5) < 5
    wire.detach()


def test_the_help_of_a_term_opens_by_any_input(page: Page) -> None:
    log_in(page, to="/")
    button = page.get_by_role("button", name="What is API conformance?")
    tip = page.get_by_text("counts what differs")
    expect(tip).to_be_hidden()
    button.press("Enter")
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    button.hover()
    expect(tip).to_be_visible()
    button.click()
    expect(tip).to_be_visible()
    page.locator("h1").click()
    expect(tip).to_be_hidden()
    button.dispatch_event("pointerdown", {"pointerType": "touch"})
    button.dispatch_event("click")
    expect(tip).to_be_visible()
