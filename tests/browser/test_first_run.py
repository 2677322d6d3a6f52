"""The first run: an empty database, an empty service, and one account."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in, open_page
from tests.browser.modes import TOO_WIDE
from tests.support import wire
from tests.support.dashboards import Dashboard, over_http
from tests.support.matrix import sampled

EMPTY = {
    "/people/": "No people yet",
    "/webhooks/": "No subscriptions yet",
    "/activity/": "No operations yet",
    "/find/": "No pages loaded yet.",
    "/find/?q=fleet": "No pages loaded yet.",
    "/service/watch/": "No deviations",
    "/accounts/settings/": "Nothing pinned.",
    "/pages/": "The service returned no pages.",
}
"""The text of each page. The last one requests the pages, so it comes last."""


def nothing(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=wire.envelope())


@pytest.fixture
def newcomer(browser: Browser, tmp_path: Path, troubles: list[str]) -> Iterator[Page]:
    with over_http(nothing) as url:
        dashboard = Dashboard(tmp_path, url)
        dashboard.prepare()
        with dashboard.started() as running:
            context = browser.new_context(base_url=running.url)
            yield log_in(open_page(context, troubles), "root")
            context.close()
    assert troubles == []


def test_a_newcomer_sees_three_first_steps(newcomer: Page, pytestconfig: pytest.Config) -> None:
    """A run takes half of the pages."""
    steps = newcomer.get_by_role("region", name="Get started")
    expect(steps.get_by_role("listitem")).to_have_count(3)
    for name, heading in {
        "Add webhook": "Webhook subscriptions",
        "Create page": "Create page",
    }.items():
        steps.get_by_role("link", name=name).click()
        expect(newcomer.get_by_role("heading", level=1)).to_have_text(heading)
        newcomer.goto("/")
    *others, pages = EMPTY
    for address in (*sampled(others, pytestconfig, turn=0, of=2), pages):
        newcomer.goto(address)
        expect(newcomer.locator("main"), address).to_contain_text(EMPTY[address])
        for width in (1280, 360):
            newcomer.set_viewport_size({"width": width, "height": 800})
            assert newcomer.evaluate(TOO_WIDE) == [], f"{address} at {width}"
    newcomer.goto("/")
    steps.get_by_role("link", name="Load pages").click()
    expect(newcomer.get_by_role("heading", level=1)).to_have_text("Pages")
    newcomer.goto("/")
    expect(steps.get_by_role("listitem").first).to_contain_text("The service has none.")
