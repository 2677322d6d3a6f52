"""Webhooks in a browser, with a service that records requests and fails when a test says so."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import new_profile, open_page, sign_in, token, until
from tests.browser.many_services import Places
from tests.support import wire
from tests.support.processes import Running
from tests.support.webhook_service import WebhookService, accepts, answers

# With scripts or without.
pytestmark = pytest.mark.matrix(cells=1)
NEW = "https://hooks.example/näher?q=<b>&x=“1”"


@pytest.fixture
def service() -> WebhookService:
    return WebhookService()


@pytest.fixture(scope="module", params=[True, False], ids=["scripts", "no scripts"])
def profile(
    request: pytest.FixtureRequest, browser: Browser, running: Running
) -> Iterator[BrowserContext]:
    """Root's profile, with and without JavaScript."""
    with new_profile(browser, running.url, java_script_enabled=request.param) as context:
        sign_in(context, "root")
        yield context


@pytest.fixture
def page(profile: BrowserContext, at: Places) -> Iterator[Page]:
    """The subscription's page."""
    put_on_the_list(profile, at)
    page = open_page(profile, [])
    page.goto(at.webhook)
    yield page
    page.close()


def put_on_the_list(context: BrowserContext, at: Places) -> None:
    webhook_id = at.webhook.split("/")[-2]
    form = {"subscription_id": webhook_id, "label": "CRM", "csrfmiddlewaretoken": token(context)}
    answer = context.request.post("/webhooks/new/", form=form)
    assert answer.url.endswith(at.webhook), answer.text()


def has_scripts(page: Page) -> bool:
    return page.locator("[data-group-box]").first.is_visible()


def fill_and_review(page: Page, url: str) -> None:
    """Type a URL and wait for the preview of the body; without scripts, request it."""
    page.get_by_label("Target URL").fill(url)
    if not has_scripts(page):
        page.get_by_role("button", name="Review and save").click()
    expect(page.get_by_role("button", name="Save changes")).to_be_visible()


def test_the_body_that_arrives_is_exactly_the_one_shown(
    page: Page, service: WebhookService
) -> None:
    fill_and_review(page, NEW)
    body = page.locator("#sending pre").inner_text()
    assert service.changes == []
    page.get_by_role("button", name="Save changes").click()
    expect(page.locator("#messages")).to_contain_text("URL updated.")
    assert service.changes == [{"url": NEW}] == [json.loads(body)]


def test_a_concurrent_change_is_shown_and_text_kept(page: Page, service: WebhookService) -> None:
    fill_and_review(page, NEW)
    service.held = wire.subscription(url="https://theirs.example/")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("the subscription changed after you opened it")).to_be_visible()
    expect(page.get_by_role("alert").last).to_contain_text("https://theirs.example/")
    expect(page.get_by_label("Target URL")).to_have_value(NEW)
    page.get_by_role("button", name="Save changes").click()
    expect(page.locator("#messages")).to_contain_text("URL updated.")
    assert service.changes == [{"url": NEW}]


def test_an_unknown_outcome_links_to_its_check(page: Page, service: WebhookService) -> None:
    service.way = answers(500, carried_out=True)
    fill_and_review(page, NEW)
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Outcome unknown: the change may have been saved.")).to_be_visible()
    page.get_by_role("link", name="Check it in Activity").click()
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".head .badge")).to_have_text("Accepted")


def test_a_flaky_switch_always_shows_the_truth(page: Page, service: WebhookService) -> None:
    switch = page.get_by_role("switch", name="Active: CRM")
    for number in range(4):
        service.way = answers(503, detail="Down for a moment.") if number % 2 else accepts
        is_on = service.held["active"]
        switch.click()
        if is_on:
            page.get_by_role("button", name="Turn off").click()
        until(page, lambda expected=number + 1: len(service.changes) == expected)
        if number % 2:
            expect(page.get_by_text("Down for a moment.")).to_be_visible()
        expect(switch).to_be_checked(checked=is_on if number % 2 else not is_on)


def test_a_double_click_is_one_request(page: Page, service: WebhookService) -> None:
    service.held = wire.subscription(active=False)
    page.reload()
    page.get_by_role("switch", name="Active: CRM").dblclick()
    expect(page.get_by_role("switch", name="Active: CRM")).to_be_checked()
    assert service.changes.count({"active": True}) == 1
