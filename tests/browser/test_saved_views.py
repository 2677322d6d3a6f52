"""Views in two browsers: saved in one, opened in the other, changed, and opened by default."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import new_profile, sign_in, token, until
from tests.support.processes import Running

# With scripts or without.
pytestmark = pytest.mark.matrix(cells=1)
ROWS = "#rows th a:first-child"


@pytest.fixture(scope="module", params=[True, False], ids=["with scripts", "without scripts"])
def has_scripts(request: pytest.FixtureRequest) -> bool:
    """Whether the browsers run scripts."""
    return bool(request.param)


@pytest.fixture(scope="module")
def profiles(
    browser: Browser, server: Running, has_scripts: bool
) -> Iterator[list[BrowserContext]]:
    """Three profiles: one of the publisher, one of the viewer, another of the publisher."""
    names = ("publisher", "viewer", "publisher")
    profiles = [new_profile(browser, server.url, java_script_enabled=has_scripts) for _ in names]
    for name, profile in zip(names, profiles, strict=True):
        sign_in(profile, name)
    yield profiles
    for profile in profiles:
        profile.close()


@pytest.fixture(scope="module")
def browsers(profiles: list[BrowserContext]) -> list[Page]:
    """A tab in each of them."""
    return [profile.new_page() for profile in profiles]


def tabs(page: Page) -> Any:
    return page.get_by_role("navigation", name="Saved views")


def save_view(page: Page, name: str, *boxes: str) -> None:
    """Save the current list as a view."""
    page.get_by_role("button", name="New view").click()
    form = page.locator("#save-view")
    form.get_by_label("Name", exact=True).fill(name)
    for box in boxes:
        form.get_by_label(box).check()
    form.get_by_role("button", name="Save view").click()
    expect(page.get_by_text("View saved.")).to_be_visible()


def cell_height(page: Page) -> float:
    """Return the height of a cell of the first row, in CSS pixels."""
    box = page.locator("#rows td").first.bounding_box()
    assert box
    return box["height"]


def have_same_rows(page: Page, other: Page) -> bool:
    """Reload two pages, as the demo's worker still reads audiences, and compare their rows."""
    rows = []
    for reloaded in (page, other):
        reloaded.reload()
        rows.append(reloaded.locator(ROWS).all_inner_texts())
    return rows[0] == rows[1] != []


def forget_view(profile: BrowserContext, name: str) -> None:
    """Delete a view by requests, without opening its pages."""
    listed = profile.request.get("/saved-views/").text()
    [address] = re.findall(rf'href="([^"]+/delete/)"[^>]*>Delete<span[^>]*> {name}<', listed)
    form = {"csrfmiddlewaretoken": token(profile)}
    answer = profile.request.post(address, form=form, max_redirects=0)
    assert answer.status == 302, answer.text()


def test_a_saved_view_opens_elsewhere_with_the_same_rows(
    browsers: list[Page], has_scripts: bool
) -> None:
    ours, viewers, elsewhere = browsers
    ours.goto("/audiences/?live=not-live&sort=-name&columns=name,created,status")
    compact = cell_height(ours)
    ours.get_by_role("button", name="Display").click()
    ours.get_by_label("Comfortable").check()
    ours.get_by_role("button", name="Apply").last.click()
    ours.wait_for_url("**density=comfortable**")
    comfortable = cell_height(ours)
    assert comfortable > compact
    headings = ours.locator("thead").inner_text()
    save_view(ours, "Backwards", "Everyone")
    for page in (elsewhere, viewers):
        page.goto("/accounts/settings/")
        main = page.get_by_role("navigation", name="Main")
        main.get_by_role("link", name="Backwards").click()
        expect(tabs(page).get_by_role("link", name="Backwards")).to_have_attribute(
            "aria-current", "page"
        )
        until(page, partial(have_same_rows, page, ours))
        assert cell_height(page) == comfortable
    assert elsewhere.locator("thead").inner_text() == headings
    elsewhere.goto("/saved-views/")
    up = elsewhere.get_by_role("button", name="Move Backwards up")
    up.click()
    of_team = elsewhere.locator("#side-views a", has_text=re.compile("Backwards|Unpublished"))
    expect(of_team).to_have_text([re.compile("Backwards"), re.compile("Unpublished")])
    if has_scripts:
        expect(up).to_be_focused()
    elsewhere.get_by_role("link", name="Delete Backwards").click()
    elsewhere.get_by_role("button", name="Delete view").click()
    expect(elsewhere.get_by_text("View deleted.")).to_be_visible()
    # The URL still works for those who have it.
    until(viewers, partial(have_same_rows, viewers, ours))


def test_a_changed_view_can_be_reset_saved_or_default(browsers: list[Page]) -> None:
    page, viewers, _ = browsers
    page.goto("/pages/?status=published&sort=name")
    save_view(page, "Mine", "Open Pages with this view")
    page.goto("/pages/")
    expect(page).to_have_url(re.compile(r"/pages/\?status=published&sort=name$"))
    page.get_by_label("Search name, title").fill("a")
    page.keyboard.press("Enter")
    changed = page.get_by_text("“Mine” was changed since it was saved.")
    expect(changed).to_be_visible()
    page.get_by_role("link", name="Reset").click()
    expect(changed).to_be_hidden()
    page.go_back()
    expect(changed).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("View saved.")).to_be_visible()
    expect(changed).to_be_hidden()
    tabs(page).get_by_role("link", name="All").click()
    expect(page.get_by_role("link", name="Remove filter")).to_have_count(0)
    viewers.goto("/pages/")
    expect(tabs(viewers).get_by_role("link", name="Mine")).to_have_count(0)
    forget_view(page.context, "Mine")


REFRESH = """new Promise((done) => {
  document.addEventListener("pressroom:refreshed", done, { once: true });
  document.getElementById("results").dataset.stale = "*";
  document.dispatchEvent(new Event("visibilitychange"));
})"""
"""Fetches the list again, as a poll does."""


def test_columns_are_moved_and_hidden(browsers: list[Page], has_scripts: bool) -> None:
    page = browsers[0]
    page.goto("/audiences/?live=changed")
    page.get_by_role("button", name="Display").click()
    page.get_by_role("checkbox", name="New page agent").uncheck()
    page.get_by_role("button", name="Move Updated up").click()
    if has_scripts:
        page.evaluate(REFRESH)  # as when a colleague publishes meanwhile
        # It is still below the hidden column, and nothing has been sent.
        page.get_by_role("button", name="Move Updated up").click()
        expect(page.locator("#display [role=status]")).to_have_text("Updated: 3 of 9")
        page.get_by_role("button", name="Apply").last.click()
    headings = ["Audience", "Latest version", "Live version", "Updated", "Live status"]
    expect(page.locator("thead th")).to_have_text(headings)
