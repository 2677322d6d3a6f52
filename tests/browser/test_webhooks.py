"""Webhooks in a browser: the body shown is sent; the switch by keyboard and without scripts."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.barriers import barriers_of_colour
from tests.browser.conftest import POLL, log_in, open_page


def open_webhook(page: Page, label: str) -> Page:
    """Log in and open a subscription by its label."""
    log_in(page, to="/webhooks/")
    page.get_by_role("link", name=label, exact=True).click()
    page.wait_for_url("**/webhooks/*/")
    expect(page.get_by_role("heading", level=1)).to_have_text(label)
    return page


def row(page: Page, label: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=label, exact=True))


def body_shown(page: Page) -> object:
    return json.loads(page.locator("#sending pre").inner_text())


def body_on_record(page: Page) -> object:
    """Return the body of the last change to this subscription, from Activity."""
    page.get_by_role("link", name="Activity", exact=True).last.click()
    page.wait_for_url("**/activity/**")
    last = page.locator(".log li").first
    page.goto(last.locator("a", has_text="Open operation").get_attribute("href") or "")
    return json.loads(page.locator("pre.code").first.inner_text())


def test_buttons_are_large_enough_on_a_small_phone(page: Page, troubles: list[str]) -> None:
    log_in(page, to="/webhooks/")
    wrong = {}
    for width in (320, 360):
        page.set_viewport_size({"width": width, "height": 700})
        expect(page.get_by_role("link", name="Change failed")).to_be_visible()
        if result := barriers_of_colour(page):  # these include target sizes
            wrong[width] = result
    assert wrong == {}
    troubles.clear()  # axe itself violates the policy.


def test_opening_the_form_renders_no_preview_again(page: Page) -> None:
    page.add_init_script("addEventListener('input', () => { window.hasInput = true; }, true)")
    open_webhook(page, "CRM forms")
    page.wait_for_load_state()
    page.evaluate("() => new Promise((done) => setTimeout(done))")  # after `pageshow`
    assert not page.evaluate("window.hasInput")
    page.get_by_label("Label").press_sequentially("x")
    assert page.evaluate("window.hasInput")


def test_the_preview_is_exactly_what_is_sent(page: Page) -> None:
    open_webhook(page, "CRM forms")
    expect(page.locator("#sends")).to_contain_text("No changes yet.")
    page.get_by_label("Target URL").fill("http://10.1.2.3/forms")
    expect(page.locator("#url-warnings")).to_contain_text("10.1.2.3 is a private address")
    page.get_by_label("form.enriched").uncheck()
    expect(page.locator("#sends")).to_contain_text("Sends only 2 changed fields")
    body = body_shown(page)
    assert body == {"url": "http://10.1.2.3/forms", "events": ["form.submitted"]}
    page.get_by_role("button", name="Save changes").last.click()
    expect(page.locator("#messages")).to_contain_text("URL and events updated.")
    expect(page.get_by_label("Target URL")).to_have_value("http://10.1.2.3/forms")
    assert body_on_record(page) == body


def test_a_review_without_javascript_is_what_is_sent(plain_page: Page) -> None:
    open_webhook(plain_page, "Audit trail")
    plain_page.get_by_label("Target URL").fill("https://audit.example/new")
    plain_page.get_by_role("button", name="Review and save").click()
    expect(plain_page.get_by_text("Not sent yet.")).to_be_visible()
    body = body_shown(plain_page)
    assert body == {"url": "https://audit.example/new"}
    plain_page.get_by_role("button", name="Save changes").last.click()
    expect(plain_page.locator("#messages")).to_contain_text("URL updated.")
    assert body_on_record(plain_page) == body


def test_a_partly_checked_group_is_indeterminate(page: Page) -> None:
    open_webhook(page, "Warehouse")
    group = page.get_by_role("group", name="form.*")
    whole = group.get_by_label("All", exact=True)
    group.get_by_label("form.submitted").check()
    assert whole.evaluate("box => box.indeterminate")
    expect(page.get_by_label("Only these events")).to_be_checked()
    whole.check()
    expect(group.get_by_label("form.enrichment_failed")).to_be_checked()
    expect(page.locator("#sending pre")).to_contain_text("form.enrichment_failed")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#sending")).to_contain_text("null can’t be restored")
    expect(page.locator("#sending pre")).to_have_text(re.compile(r'"events":\s*\[\]'))
    page.get_by_label("Keep null").check()
    expect(page.locator("#sends")).to_contain_text("No changes yet.")


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize("place", ["list", "page"])
def test_the_switch_works_by_keyboard_and_keeps_focus(page: Page, place: str) -> None:
    if place == "list":
        log_in(page, to="/webhooks/")
    else:
        open_webhook(page, "Version events")
    switch = page.get_by_role("switch", name="Active: Version events")
    expect(switch).to_be_checked()
    switch.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Turn off Version events?")
    expect(dialog.get_by_role("link", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(switch).to_be_focused()
    expect(switch).to_be_checked()
    page.keyboard.press("Space")
    expect(dialog.get_by_role("link", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(switch).not_to_be_checked()
    expect(dialog).to_be_hidden()
    expect(switch).to_be_focused()
    page.keyboard.press("Space")
    expect(switch).to_be_checked()
    expect(switch).to_be_focused()
    page.reload()
    expect(switch).to_be_checked()


def test_the_switch_goes_off_and_on_without_javascript(plain_page: Page) -> None:
    log_in(plain_page, to="/webhooks/?state=on")
    plain_page.get_by_role("switch", name="Active: Sales chat").click()
    plain_page.get_by_role("button", name="Turn off").click()
    expect(plain_page).to_have_url(re.compile(r"/webhooks/\?state=on$"))
    expect(plain_page.locator("#messages")).to_contain_text("Sales chat is off.")
    expect(row(plain_page, "Sales chat")).to_have_count(0)
    plain_page.goto("/webhooks/")
    plain_page.get_by_role("switch", name="Active: Sales chat").click()
    expect(plain_page.locator("#messages")).to_contain_text("Sales chat is on.")


def test_a_refreshed_row_keeps_the_focus(page: Page) -> None:
    log_in(page, to="/webhooks/")
    button = page.get_by_role("button", name="Refresh: Sales chat")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcement")).to_have_text("1 of 1 refreshed.")
    expect(button).to_be_focused()


def test_a_removed_subscription_can_be_added_again_by_id(page: Page, troubles: list[str]) -> None:
    open_webhook(page, "Warehouse")
    other = open_page(page.context, troubles)
    other.goto(page.url)
    other.get_by_label("Label").fill("Depot")
    subscription_id = page.locator("[data-copy]").first.get_attribute("data-copy") or ""
    page.get_by_role("link", name="Remove from Pressroom").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator("#messages")).to_contain_text("The service wasn’t changed.")
    expect(row(page, "Warehouse")).to_have_count(0)
    other.evaluate(POLL)
    expect(other.locator("#removed")).to_contain_text("This was removed.")
    expect(other.get_by_label("Label")).to_have_value("Depot")
    offered = other.locator("main :is(button, a.button):not([data-copy]):not(#removed *)")
    assert offered.count() > 3
    assert all(offered.evaluate_all("(controls) => controls.map((it) => it.inert)"))
    other.close()
    troubles.clear()  # The browser logs the 404.
    page.get_by_role("textbox", name="Subscription ID").fill(subscription_id)
    page.get_by_role("textbox", name="Label").fill("Warehouse")
    page.get_by_role("button", name="Add subscription").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Warehouse")
