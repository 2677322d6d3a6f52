"""A publish is rolled back with two presses, and is not published again by accident."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import ReusedProfile, log_in, open_page, time_passes
from tests.browser.many_services import Places
from tests.browser.publish_dialog import DIALOG, PATIENCE_MS, dialog, headline, press
from tests.support import wire
from tests.support.publishing_service import PublishingService, now


@pytest.fixture
def page(services_profile_with_clock: ReusedProfile, troubles: list[str]) -> Iterator[Page]:
    """A tab where root is logged in."""
    context = services_profile_with_clock.open()
    yield log_in(open_page(context, troubles), "root", to="/")
    services_profile_with_clock.empty()


def test_a_rolled_back_version_is_not_published_by_accident(
    page: Page, service: PublishingService, at: Places
) -> None:
    row = page.locator(f"tbody tr:has(a[href='{at.audience}'])")
    page.goto(at.publish)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("Publishing version 2")
    service.moves_on("published", queuedAt=now())
    time_passes(page)
    expect(headline(page)).to_have_text("Version 2 is live", timeout=PATIENCE_MS)
    assert barriers(page, DIALOG) == []

    # From here, two presses send the rollback.
    dialog(page).get_by_role("link", name="Roll back to 1").click()
    expect(dialog(page)).to_contain_text("Visitors will see again: version 1")
    expect(dialog(page)).to_contain_text("Runs 64 trucks.")
    expect(dialog(page).get_by_role("button", name="Roll back to 1")).to_be_focused()
    assert barriers(page, DIALOG) == []
    dialog(page).get_by_label("Reason, optional").fill("The 8% isn’t signed off.")
    press(page, "Roll back to 1")
    expect(headline(page)).to_have_text("Rolling back to version 1")
    service.live = wire.live_version(queuedAt=now(), publishedAt=now())
    service.moves_on("archived", archivedAt=now())
    time_passes(page)
    expect(headline(page)).to_have_text("Version 1 is live again", timeout=PATIENCE_MS)
    expect(dialog(page)).to_contain_text("The 8% isn’t signed off.")
    assert barriers(page, DIALOG) == []

    page.goto("/audiences/?live=changed")
    expect(row).to_have_count(0)
    if page.get_by_label("Select all rows shown").count():
        page.get_by_label("Select all rows shown").check()
        page.get_by_role("button", name=re.compile(r"^Publish \d+…")).click()
        page.wait_for_url("**/releases/**")
        expect(page.locator(f"a[href='{at.versions}']")).to_have_count(0)
    page.goto("/audiences/?live=rolled-back")
    expect(row).to_have_count(1)

    page.goto(at.publish)
    expect(dialog(page)).to_contain_text(re.compile("root rolled back version 2"))
    expect(dialog(page)).to_contain_text("The 8% isn’t signed off.")
    press(page, "Publish version 2")
    expect(dialog(page)).to_contain_text("then type 2.")
    assert len(service.keys) == 2
