"""A browser in front of two machines, each request of which may reach either."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE_S, log_in, open_page
from tests.support.several_machines import two_machines

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"


def test_a_person_publishes_and_watches_it_go_live(browser: Browser, tmp_path: Path) -> None:
    troubles: list[str] = []
    with two_machines(tmp_path) as pair:
        context = browser.new_context(base_url=pair.url, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_S * 1000)
        page = log_in(open_page(context, troubles), "root", to="/activity/")
        page.goto(ADDRESS)
        page.get_by_role("button", name="Publish version 2").click()
        expect(page.locator("#pub-h")).to_have_text("Publishing version 2")
        pair.service.moves_on("published")
        expect(page.locator(".stepper")).to_contain_text("Published")
        page.goto("/activity/")
        expect(page.locator("#main")).to_contain_text("Succeeded")
        context.close()
        served = [len(log) for log in pair.lines("dashboard.requests")]
    assert troubles == []
    assert len(pair.service.keys) == 1
    assert all(served), served
