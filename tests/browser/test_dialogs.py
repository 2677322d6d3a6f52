"""Dialogs over a page: only their own requests change them, and Back closes them."""

import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Error,
    Locator,
    Page,
    Response,
    Route,
    expect,
)

from tests.browser.conftest import (
    NEXT_FRAME,
    ReusedProfile,
    end_session,
    log_in,
    new_profile,
    open_page,
    settle,
    time_passes,
    until,
)
from tests.browser.many_services import Places
from tests.support.matrix import sampled
from tests.support.processes import Running
from tests.support.publishing_service import PublishingService

PATIENCE_MS = 60_000
OPENER = "main a[href$='/publish/'][hx-target='#dialogs']"
NOTE_WHAT_GOES = """window.gone = [];
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.removedNodes) {
      if (node.nodeName === "DIALOG") window.gone.push(node.id);
    }
  }).observe(document.getElementById("dialogs"), {childList: true});
  document.addEventListener("close", ({target}) => window.gone.push(target.id), true); null"""
POLL = """() => document.dispatchEvent(new Event("visibilitychange"))"""


def is_refresh(response: Response) -> bool:
    """Return whether the response refreshes a region of a page."""
    return "x-background" in response.request.headers and "/live/" not in response.url


def opened_in(context: BrowserContext, troubles: list[str]) -> Page:
    """Open a tab where root is signed in."""
    return log_in(open_page(context, troubles), "root", to="/activity/")


def unexpected(troubles: list[str]) -> list[str]:
    """Return troubles other than those of a 422 or a cut connection."""
    expected = "422|Failed to load|Status Error Code 500|sendError"
    return [line for line in troubles if not re.search(expected, line)]


@pytest.fixture
def tab(services_profile: ReusedProfile, troubles: list[str]) -> Iterator[Page]:
    """A tab of root. The test fails on any trouble in it."""
    yield opened_in(services_profile.open(), troubles)
    services_profile.empty()
    assert unexpected(troubles) == []


@pytest.fixture
def timed_tab(services_profile_with_clock: ReusedProfile, troubles: list[str]) -> Iterator[Page]:
    """The same, with a clock that the test can move."""
    yield opened_in(services_profile_with_clock.open(), troubles)
    services_profile_with_clock.empty()
    assert unexpected(troubles) == []


@pytest.fixture
def lone_tab(browser: Browser, running: Running, troubles: list[str]) -> Iterator[Page]:
    """The same in its own profile, to be taken offline."""
    with new_profile(browser, running.url) as context:
        yield opened_in(context, troubles)
    assert unexpected(troubles) == []


def pages_with_openers(at: Places) -> list[str]:
    """Return every page that can open a publish dialog."""
    page = at.audience.partition("audiences/")[0]
    compare = f"{at.versions}compare/?from=live&to=latest"
    return [at.audience, at.versions, compare, f"{at.audience}conversation/", page]


def slow_down(devtools: CDPSession, rate: int) -> None:
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": rate})


def test_a_dialog_survives_responses_out_of_order(
    tab: Page, at: Places, pytestconfig: pytest.Config
) -> None:
    """Try a random order on one page, and ten on every page with --exhaustive."""
    is_exhaustive = pytestconfig.getoption("exhaustive")
    chance = random.Random(18 if is_exhaustive else pytestconfig.option.matrix_seed)
    loads, openings = (2, 5) if is_exhaustive else (1, 1)
    addresses = pages_with_openers(at)
    pages = sampled(addresses, pytestconfig, turn=0, of=len(addresses))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route) if route.request.resource_type in {"xhr", "fetch"} else route.continue_()

    devtools = tab.context.new_cdp_session(tab)
    for address in pages * loads:
        slow_down(devtools, 1)
        tab.goto(address, wait_until="domcontentloaded")
        slow_down(devtools, chance.choice([1, 4]))
        tab.evaluate(NOTE_WHAT_GOES)
        openers = tab.locator(OPENER)
        for _ in range(openings):
            tab.route("**/*", hold)
            # A poll, a click on each opener, more clicks on the first one, and another poll.
            tab.evaluate(POLL)
            for place in [*range(openers.count()), 0, 0]:
                openers.nth(place).dispatch_event("click")
            tab.evaluate(POLL)
            until(tab, lambda: bool(held))
            while held:
                chance.shuffle(held)
                with suppress(Error):  # The page may have aborted it.
                    held.pop().continue_()
                for _ in range(chance.choice([0, 1, 4])):
                    tab.evaluate(NEXT_FRAME)
                until(tab, lambda: held or question(tab).count())
            expect(question(tab)).to_have_text("Publish version 2?")
            tab.unroute_all()
            tab.evaluate(POLL)
            settle(tab)
            expect(question(tab)).to_have_text("Publish version 2?")
            assert tab.evaluate("window.gone") == []
            assert tab.url.endswith(at.publish)
            tab.keyboard.press("Escape")
            expect(tab).to_have_url(re.compile(re.escape(address) + "$"))
            tab.evaluate("window.gone.length = 0")


def question(tab: Page) -> Locator:
    return tab.locator("#publish:modal h1")


def ask_to_publish(tab: Page) -> None:
    tab.locator(OPENER).first.click()
    expect(tab.locator("#publish:modal").get_by_role("link", name="Cancel")).to_be_focused()


WAYS = ("Back", "Escape", "Cancel", "Forward")
"""Ways of leaving a dialog. A run takes each way and each page once; --exhaustive takes all."""


@pytest.mark.parametrize("way", WAYS[:-1])
def test_back_and_cancel_close_the_dialog(
    way: str, tab: Page, at: Places, pytestconfig: pytest.Config
) -> None:
    turn = WAYS.index(way)
    for address in sampled(pages_with_openers(at), pytestconfig, turn=turn, of=len(WAYS)):
        tab.goto(address)
        steps = tab.evaluate("history.length")
        tab.evaluate("document.querySelector('main').dataset.same = ''")
        ask_to_publish(tab)
        expect(tab).to_have_url(re.compile(f"{at.publish}$"))
        if way == "Back":
            tab.go_back()
        elif way == "Escape":
            tab.keyboard.press("Escape")
        else:
            tab.get_by_role("link", name="Cancel").click()
        expect(tab.locator("#dialogs dialog")).to_have_count(0)
        expect(tab).to_have_url(re.compile(re.escape(address) + "$"))
        expect(tab.locator(OPENER).first).to_be_focused()
        expect(tab.locator("main[data-same]")).to_have_count(1)
        assert tab.evaluate("history.length") == steps + 1


def test_forward_reopens_the_dialog_over_its_page(
    tab: Page, at: Places, pytestconfig: pytest.Config
) -> None:
    turn = WAYS.index("Forward")
    for address in sampled(pages_with_openers(at), pytestconfig, turn=turn, of=len(WAYS)):
        tab.goto(address)
        steps = tab.evaluate("history.length")
        tab.evaluate("document.querySelector('main').dataset.same = ''")
        ask_to_publish(tab)
        for _ in range(2):
            tab.go_back()
            expect(tab.locator("#dialogs dialog")).to_have_count(0)
            expect(tab).to_have_url(re.compile(re.escape(address) + "$"))
            tab.go_forward()
            expect(question(tab)).to_have_text("Publish version 2?")
            expect(tab).to_have_url(re.compile(f"{at.publish}$"))
            expect(tab.locator("main[data-same]")).to_have_count(1)
            assert tab.evaluate("history.length") == steps + 1
        tab.keyboard.press("Escape")
        expect(tab).to_have_url(re.compile(re.escape(address) + "$"))
        expect(tab.locator(OPENER).first).to_be_focused()


def test_a_reloaded_dialog_opens_over_the_audience(tab: Page, at: Places) -> None:
    tab.goto(f"{at.audience}conversation/")
    ask_to_publish(tab)
    tab.reload()
    expect(tab.get_by_role("dialog").get_by_role("heading", level=1)).to_have_text(
        "Publish version 2?"
    )
    expect(tab.get_by_role("link", name="Cancel")).to_be_focused()
    expect(tab.locator(".app[inert] #live-h")).to_have_count(1)
    tab.go_back()
    expect(tab.locator("#dialogs dialog")).to_have_count(0)
    expect(tab).to_have_url(re.compile("/conversation/$"))
    expect(tab.locator("#pending")).to_be_visible()
    tab.go_forward()
    expect(tab.get_by_role("link", name="Cancel")).to_be_focused()


def publish(tab: Page) -> None:
    ask_to_publish(tab)
    tab.get_by_role("button", name="Publish version 2").click()
    expect(tab.locator("#pub-h")).to_have_text("Publishing version 2")


def test_after_publishing_the_focus_replaces_the_button(tab: Page, at: Places) -> None:
    page = at.audience.partition("audiences/")[0]
    tab.goto(page)
    publish(tab)
    expect(tab).to_have_url(re.compile(re.escape(at.publish) + r"progress/\?operation="))
    tab.keyboard.press("Escape")
    expect(tab).to_have_url(re.compile(re.escape(page) + "$"))
    expect(tab.get_by_role("link", name="View progress")).to_be_focused()


def test_focus_survives_a_poll_after_publishing(tab: Page, at: Places) -> None:
    page = at.audience.partition("audiences/")[0]
    tab.goto(page)
    publish(tab)

    held: list[Route] = []

    def hold(route: Route) -> None:
        is_reload = "hx-history-restore-request" in route.request.headers
        held.append(route) if is_reload else route.continue_()

    tab.route(re.compile(re.escape(page) + "$"), hold)
    with tab.expect_response(is_refresh):
        tab.keyboard.press("Escape")
    until(tab, lambda: held)
    old = tab.get_by_role("link", name="View progress").element_handle()
    held[0].continue_()
    until(tab, lambda: not old.evaluate("link => link.isConnected"))
    expect(tab.get_by_role("link", name="View progress")).to_be_focused()


@pytest.mark.parametrize("first", ["poll", "reload"])
def test_focus_moves_beside_a_vanished_button(
    first: str, timed_tab: Page, at: Places, service: PublishingService
) -> None:
    polls: list[Route] = []

    def hold(route: Route) -> None:
        polls.append(route)

    timed_tab.goto(at.audience)
    publish(timed_tab)
    # Behind the dialog. The page polls from then on.
    expect(timed_tab.locator("#head")).to_contain_text("Version 2 queued")
    timed_tab.route(re.compile(r"\?tab="), hold)
    service.moves_on("published")
    time_passes(timed_tab)
    until(timed_tab, lambda: polls)
    expect(timed_tab.locator("#pub-h")).to_have_text("Version 2 is live", timeout=PATIENCE_MS)
    if first == "poll":
        polls[0].continue_()
        expect(timed_tab.locator("#head")).to_contain_text("Version 2 live")
    timed_tab.get_by_role("link", name="Close", exact=True).click()
    expect(timed_tab.locator("#head")).to_contain_text("Version 2 live")
    expect(timed_tab.locator("#live-h")).to_be_focused()


def test_focus_returns_to_the_button_of_a_menu(
    tab: Page, at: Places, service: PublishingService
) -> None:
    tab.goto(at.versions)
    service.moves_on("published")
    tab.goto(at.versions)
    menu_button = tab.get_by_role("button", name="More actions")
    menu_button.click()
    tab.locator("#audience-more").get_by_role("link", name="Roll back to 1").click()
    expect(question(tab)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(menu_button).to_be_focused()


def test_a_reload_while_publishing_shows_progress(tab: Page, at: Places) -> None:
    tab.goto(at.versions)
    publish(tab)
    tab.reload()
    expect(tab.locator("#pub-h")).to_have_text("Publishing version 2")
    tab.go_back()
    expect(tab.locator("#dialogs dialog")).to_have_count(0)
    expect(tab.locator("#versions")).to_be_visible()


def test_closing_a_dialog_aborts_its_requests(timed_tab: Page, at: Places) -> None:
    timed_tab.goto(at.audience)
    publish(timed_tab)
    watched = re.compile(r"\?operation=")
    with timed_tab.expect_request(watched):
        timed_tab.route(watched, lambda _route: None)
        time_passes(timed_tab)
    with timed_tab.expect_event("requestfailed", lambda request: bool(watched.search(request.url))):
        timed_tab.keyboard.press("Escape")
    expect(timed_tab.locator("#head")).to_contain_text("Version 2 queued")


def test_an_expired_session_in_a_dialog_leads_to_sign_in(
    tab: Page, at: Places, service: PublishingService
) -> None:
    tab.goto(f"{at.audience}conversation/")
    ask_to_publish(tab)
    end_session(tab.context)
    tab.evaluate(POLL)
    expect(tab.locator("#session-ended")).to_contain_text("Your session has ended.")
    expect(question(tab)).to_be_visible()
    tab.get_by_role("button", name="Publish version 2").click()
    expect(tab.locator("main")).to_contain_text("You were signed out, so nothing was sent.")
    assert service.keys == []


def test_a_session_lost_while_publishing_is_noted(timed_tab: Page, at: Places) -> None:
    timed_tab.goto(at.audience)
    publish(timed_tab)
    end_session(timed_tab.context)
    time_passes(timed_tab)
    expect(timed_tab.locator("main")).to_contain_text(
        "You were signed out. Requests already sent continue.", timeout=PATIENCE_MS
    )


def test_an_offline_dialog_says_whether_it_was_sent(
    lone_tab: Page, at: Places, service: PublishingService
) -> None:
    lone_tab.goto(at.audience)
    ask_to_publish(lone_tab)
    lone_tab.context.set_offline(True)
    button = lone_tab.get_by_role("button", name="Publish version 2")
    button.click()
    expect(lone_tab.locator("#publish").get_by_role("alert")).to_contain_text(
        "it’s unknown whether this was sent"
    )
    assert service.keys == []
    lone_tab.context.set_offline(False)
    button.click()
    expect(lone_tab.locator("#pub-h")).to_have_text("Publishing version 2")
    expect(lone_tab.get_by_role("alert")).to_have_count(0)
    assert len(service.keys) == 1


def test_the_note_that_nothing_responds_moves_nothing_and_goes(lone_tab: Page) -> None:
    lone_tab.goto("/people/")
    search = lone_tab.get_by_role("searchbox", name="Search people")
    place = search.bounding_box()
    note = lone_tab.locator("[data-offline]")
    lone_tab.context.set_offline(True)
    search.fill("a")
    expect(note).to_contain_text("Pressroom is unreachable.")
    assert search.bounding_box() == place
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)
    search.fill("ab")
    expect(note).to_have_count(1)
    lone_tab.context.set_offline(False)
    expect(note).to_have_count(0)
