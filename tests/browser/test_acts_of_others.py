"""Each act of one person appears on the pages that another person has open."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.addresses import UNPLANNED_DRAFT, execute
from tests.browser.conftest import follow, new_profile, open_page, sign_in
from tests.browser.publish_dialog import dialog, headline, press
from tests.support.processes import Running, demo, fill_as_the_demo_does
from tests.support.shared_files import made_once

OPEN_REQUEST = "SELECT id FROM approvals_approvalrequest WHERE state = 'open' ORDER BY id LIMIT 1"


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Running]:
    """A demo of this test alone, as it decides the request that other tests look at."""
    shutil.copy(made_once("demo.sqlite3", fill_as_the_demo_does), tmp_path / "demo.sqlite3")
    with demo(tmp_path, EMBEDDED_API_QUEUE_S="1", EMBEDDED_API_PROCESSING_S="1") as running:
        yield running


@pytest.fixture
def profiles(
    browser: Browser, own_server: Running
) -> Iterator[tuple[BrowserContext, BrowserContext]]:
    """Profiles of who acts and of who watches."""
    with (
        new_profile(browser, own_server.url) as demo_profile,
        new_profile(browser, own_server.url) as viewer_profile,
    ):
        sign_in(demo_profile, "demo")
        sign_in(viewer_profile, "viewer")
        yield demo_profile, viewer_profile


class Screen:
    """A page that the watching person has opened once."""

    def __init__(self, profile: BrowserContext, path: str, troubles: list[str]) -> None:
        self.page = open_page(profile, troubles)
        self.page.goto(path)
        self.page.evaluate("window.isSamePage = true")

    def shows(self, text: str, *, at: str) -> None:
        """Wait until the page has followed: an element that `at` selects has this text."""
        follow(self.page, self.page.locator(at).filter(has_text=text))
        assert self.page.evaluate("window.isSamePage")


def test_each_act_of_another_appears_on_open_pages(
    profiles: tuple[BrowserContext, BrowserContext], own_server: Running, troubles: list[str]
) -> None:
    page_id, audience_id, version_id = (
        quote(part, safe="") for part in execute(own_server, UNPLANNED_DRAFT, 0)[0]
    )
    [[approval]] = execute(own_server, OPEN_REQUEST)
    audience = f"/pages/{page_id}/audiences/{audience_id}/"
    actor, watcher = profiles
    ana = open_page(actor, troubles)
    overview, audiences, seen_audience = (
        Screen(watcher, path, troubles) for path in ("/", "/audiences/", audience)
    )
    name = seen_audience.page.get_by_role("heading", level=1).inner_text()
    newest = "#recent-operations tbody tr:first-child"

    ana.goto(f"{audience}versions/{version_id}/publish/")
    version = headline(ana).inner_text().removeprefix("Publish ").removesuffix("?")
    press(ana, "Publish version")
    overview.shows(name, at=f"{newest}:has-text('Publish {version}')")
    seen_audience.shows(f"{version} live", at="#head-state")

    dialog(ana).get_by_role("link", name="Roll back to").click()
    press(ana, "Roll back to")
    overview.shows(name, at=f"{newest}:has-text('Roll back')")
    seen_audience.shows("Rolled back", at="#head-state")
    seen_audience.page.close()

    releases = Screen(watcher, "/releases/", troubles)
    ana.goto(f"/releases/new/?audience={page_id}/{audience_id}")
    ana.locator("main form .primary").click()
    releases.shows("changed or new", at="[data-waiting=results]")
    releases.page.close()

    request = Screen(watcher, f"/approvals/{approval}/", troubles)
    ana.goto(f"/approvals/{approval}/")
    ana.get_by_role("button", name="Approve").click()
    request.shows("demo approved it", at="#approval")
    request.page.close()

    webhooks = Screen(watcher, "/webhooks/", troubles)
    ana.goto("/webhooks/")
    ana.get_by_role("switch", name="Active: Audit trail").click()
    press(ana, "Turn off")
    webhooks.shows("Paused", at="tr:has-text('Audit trail')")
    overview.shows("Audit trail", at="#recent-operations tr")
    webhooks.page.close()

    pages = Screen(watcher, "/pages/", troubles)
    ana.goto(f"/pages/new/?from={page_id}")
    ana.locator("[name=name]").fill("Harbor fleets")
    ana.get_by_role("button", name="Create page").click()
    overview.shows("Create page", at=newest)
    pages.shows("changed or new", at="[data-waiting=results]")
    pages.page.close()

    ana.goto("/audiences/?live=changed")
    ana.get_by_role("button", name="New view").click()
    form = ana.locator("#save-view")
    form.get_by_label("Name", exact=True).fill("Ours")
    form.get_by_label("Everyone").check()
    form.get_by_role("button", name="Save view").click()
    overview.shows("Ours", at="#side-views")
    audiences.shows("Ours", at="[aria-label='Saved views']")
    assert troubles == []
