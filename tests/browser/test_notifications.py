"""The bell and the matrix of notifications in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import ReusedProfile, log_in, open_page, settle
from tests.browser.many_services import Places
from tests.browser.whole_page import tab_to
from tests.support.publishing_service import PublishingService, answers
from tests.support.worker_processes import WorkerDashboard

LIST = "/notifications/"
SETTINGS = "/accounts/settings/notifications/"
POLL_MS = 60_000
NOTIFY = """from dashboard.notifications.recipients import notify_pending
notify_pending("worker")"""


@pytest.fixture
def roots(
    services_profile_with_clock: ReusedProfile,
    services_dashboard: WorkerDashboard,
    troubles: list[str],
) -> Iterator[BrowserContext]:
    """A profile of root, with all notifications read and a clock that the test can move."""
    # Drop the events of other tests, as no worker has handled them.
    services_dashboard.execute("UPDATE notifications_event SET wake_at = NULL")
    context = services_profile_with_clock.open()
    page = log_in(open_page(context, troubles), "root", to=LIST)
    if (mark_all := page.get_by_role("button", name="Mark all as read")).is_visible():
        mark_all.click()
    expect(page.locator("#bell-count")).to_be_hidden()
    page.close()
    yield context
    services_profile_with_clock.empty()
    # The browser itself logs the rejection of the publish.
    assert [line for line in troubles if "422" not in line] == []


def test_a_failure_in_another_tab_makes_the_bell_count(
    roots: BrowserContext,
    service: PublishingService,
    services_dashboard: WorkerDashboard,
    at: Places,
    troubles: list[str],
) -> None:
    service.way = answers(422, "The version is locked.")
    page, other = open_page(roots, troubles), open_page(roots, troubles)
    page.goto(SETTINGS)
    other.goto(at.publish)
    other.get_by_role("button", name="Publish version 2").click()
    expect(other.get_by_role("dialog")).to_contain_text("The version is locked.")

    services_dashboard.run(NOTIFY)

    page.bring_to_front()
    page.clock.fast_forward(POLL_MS)
    bell = page.locator(".bar").get_by_role("button", name="Notifications 1 unread")
    expect(page.locator("#bell-announcement")).to_have_text("1 unread notification")
    bell.click()
    entry = page.locator("#notices .unread").first
    expect(entry).to_contain_text("Publishing version 2 of Brightwater Foods failed.")
    page.keyboard.press("Escape")
    expect(bell).to_be_focused()

    bell.click()
    entry.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish version 2")
    expect(page.locator("#bell-count")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url(f"**{LIST}")
    expect(page.locator("main .notice").first).not_to_contain_text("New")


def test_one_notice_is_marked_as_read_in_place(page: Page) -> None:
    log_in(page, "publisher", to=LIST)
    unread = page.locator("main .notice.unread")
    count = unread.count()
    assert count
    unread.first.get_by_role("button", name="Mark as read").click()
    expect(unread).to_have_count(count - 1)
    expect(page.locator("main .notice :focus, main .notice:focus")).to_have_count(1)
    number = page.locator("#bell-count")
    expect(number).to_be_hidden() if count == 1 else expect(number).to_contain_text(str(count - 1))


def test_opening_in_a_new_tab_marks_as_read(page: Page) -> None:
    log_in(page, "publisher", to=LIST)
    unread = page.locator("main .notice.unread")
    count, link = unread.count(), unread.first.get_by_role("link")
    url = link.get_attribute("href")
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    opened.value.wait_for_url(f"**{url}")
    expect(unread).to_have_count(count - 1)
    assert page.url.endswith(LIST)


def test_the_matrix_is_set_by_keyboard_and_stays(page: Page) -> None:
    log_in(page, "viewer", to=SETTINGS)
    page.get_by_label("In Pressroom, Publishing: Failed").focus()
    page.keyboard.press("Tab")
    by_email = page.get_by_label("E-mail, Publishing: Failed")
    expect(by_email).to_be_focused()
    page.keyboard.press("Space")
    tab_to(page, "main .submit button")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Notification settings saved.")).to_be_visible()
    page.reload()
    settle(page)
    expect(by_email).not_to_be_checked()
    expect(page.get_by_label("Webhook, Publishing: Failed")).to_be_checked()


@pytest.mark.parametrize("fail", ["500", "no response"])
def test_a_poll_that_fails_leaves_the_page_alone(
    timed_page: Page, troubles: list[str], fail: str
) -> None:
    page = log_in(timed_page, to=SETTINGS)
    messages = page.locator("#messages > *, [data-offline]")
    with page.expect_request("**/live/?*"):
        page.route(
            "**/live/?*",
            lambda route: route.fulfill(status=500, body="no") if fail == "500" else route.abort(),
        )
        page.clock.fast_forward(POLL_MS)
    settle(page)
    expect(messages).to_have_count(0)
    troubles.clear()
