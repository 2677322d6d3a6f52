"""Publishing in a browser, with a service that a test can make slow, silent or unreachable."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Event, Semaphore
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from tests.browser.barriers import WHOLE, barriers
from tests.browser.conftest import (
    NEXT_FRAME,
    NOTE_ANNOUNCEMENTS,
    ReusedProfile,
    log_in,
    new_profile,
    open_page,
    settle,
    sign_in,
    time_passes,
    until,
)
from tests.browser.many_services import ManyServices, Places
from tests.browser.publish_dialog import DIALOG, PATIENCE_MS, dialog, headline, press
from tests.support import wire
from tests.support.dashboards import Dashboard, over_http
from tests.support.matrix import sampled
from tests.support.processes import free_port
from tests.support.publishing_service import PublishingService, accepts, answers, now

THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
NOTE_THE_SWAP = """window.swapped = new Promise((done) => {
  document.addEventListener("htmx:afterSwap", () => {
    if (document.getElementById("pub-h")?.textContent.includes("is live")) done();
  });
}); null"""

Opened = Callable[[str], Page]


@pytest.fixture
def opened(services_profile_with_clock: ReusedProfile, troubles: list[str]) -> Iterator[Opened]:
    """Opens tabs where root is logged in. The test fails on any trouble in one of them."""
    context = services_profile_with_clock.open()

    def open_at(address: str) -> Page:
        return log_in(open_page(context, troubles), "root", to=address)

    yield open_at
    services_profile_with_clock.empty()
    # The browser itself logs a 422.
    assert [line for line in troubles if "422" not in line] == []


def expect_step(page: Page, word: str) -> None:
    step = page.locator(".stepper [aria-current=step]")
    expect(step).to_contain_text(word, timeout=PATIENCE_MS)


def ask_to_publish(page: Page, name: str = "Publish version 2") -> None:
    """Press the button on the page, which opens the dialog."""
    page.locator("main").get_by_role("link", name=name).first.click()
    expect(dialog(page).get_by_role("link", name="Cancel")).to_be_focused()


def ask_to_roll_back(page: Page) -> None:
    """Press the button on the page, which opens the dialog with the focus on its button."""
    page.locator("main").get_by_role("link", name="Roll back to 1").first.click()
    expect(headline(page)).to_have_text("Roll back to version 1")
    expect(dialog(page).get_by_role("button", name="Roll back to 1")).to_be_focused()


def test_a_version_is_published_watched_compared_and_rolled_back(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    page = opened(at.audience)
    ask_to_publish(page)
    expect(dialog(page)).to_contain_text("removed: 64")
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("Publishing version 2")
    expect_step(page, "Queued")
    service.moves_on("processing")
    time_passes(page)
    expect_step(page, "Processing")
    service.moves_on("published")
    time_passes(page)
    expect(headline(page)).to_have_text("Version 2 is live", timeout=PATIENCE_MS)
    expect(dialog(page).locator(".outcome[role=status]")).to_contain_text("Version 2 is live")
    expect(dialog(page).get_by_role("link", name="Close", exact=True)).to_be_focused()
    expect(page.locator(".steps-done li")).to_have_count(2)
    dialog(page).get_by_role("link", name="Close", exact=True).click()
    expect(page.locator("#head")).to_contain_text("Version 2 live")

    page.get_by_role("link", name="Versions").first.click()
    page.get_by_role("radio", name="From version 1").check()
    page.get_by_role("radio", name="To version 2").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare version 1 with version 2")
    expect(page.locator("ins").filter(has_text="71")).to_have_count(1)

    page.goto(at.versions)
    ask_to_roll_back(page)
    page.keyboard.press("Enter")
    expect(headline(page)).to_have_text("Rolling back to version 1")
    service.live = wire.live_version(queuedAt=now(), publishedAt=now())
    time_passes(page)
    expect(headline(page)).to_have_text("Version 1 is live again", timeout=PATIENCE_MS)
    assert len(service.keys) == len(set(service.keys)) == 2


def test_enter_does_what_was_chosen(opened: Opened, service: PublishingService, at: Places) -> None:
    assert service.latest is not None
    service.latest = service.latest | {"status": "queued"}  # The number has to be typed.
    page = opened(at.publish)
    dialog(page).get_by_role("radio", name="Schedule").check()
    dialog(page).get_by_label("Type 2 to publish").fill("2")
    page.keyboard.press("Enter")
    expect(dialog(page)).to_contain_text("Enter a valid time")
    assert service.keys == []
    dialog(page).get_by_role("radio", name="Publish now").check()
    dialog(page).get_by_label("Type 2 to publish").fill("2")
    page.keyboard.press("Enter")
    expect(headline(page)).to_have_text("Publishing version 2")
    assert len(service.keys) == 1


def test_a_version_is_scheduled_from_the_dialog(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    page = opened(at.audience)
    ask_to_publish(page)
    dialog(page).get_by_role("radio", name="Schedule").check()
    year = datetime.now(UTC).year + 1
    dialog(page).get_by_label("Date").fill(f"{year}-01-15")
    dialog(page).get_by_label("Time", exact=True).fill("09:30")
    dialog(page).get_by_label("Time zone").select_option("Asia/Tokyo")
    expect(dialog(page).locator("#schedule-moment")).to_contain_text("00:30 UTC")
    assert barriers(page, DIALOG) == []
    press(page, "Schedule version 2")
    expect(headline(page)).to_have_text("Version 2 is scheduled")
    expect(dialog(page)).to_contain_text(re.compile(rf"{year}, 0?9:30.* in Tokyo"))
    assert barriers(page, DIALOG) == []
    dialog(page).get_by_role("link", name="Close").last.click()
    mark = page.locator("#head").get_by_role("link", name="Version 2 scheduled")
    expect(mark).to_contain_text(str(year))
    mark.click()
    expect(page.locator("#verdict")).to_contain_text("Reschedule")
    assert service.keys == []


def test_double_clicks_in_two_tabs_publish_once(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    released = Event()

    def slow(of: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = accepts(of, request)
        released.wait(60)
        return answer

    service.way = slow
    first, two = opened(at.publish), opened(at.publish)
    for tab in (first, two):
        dialog(tab).get_by_role("button", name="Publish version 2").dblclick()
        until(tab, lambda: len(service.keys) == 1)
    expect(headline(two)).to_have_text("Sending version 2")
    released.set()
    for tab in (first, two):
        time_passes(tab)
        expect(headline(tab)).to_have_text("Publishing version 2", timeout=PATIENCE_MS)
    two.reload()
    expect(headline(two)).to_have_text("Publishing version 2")
    assert len(service.keys) == 1


def test_escape_closes_at_the_moment_the_version_is_live(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    over_a_page = opened(at.audience)
    ask_to_publish(over_a_page)
    press(over_a_page, "Publish version 2")
    expect(headline(over_a_page)).to_have_text("Publishing version 2")
    page_itself = opened(at.publish)
    expect(headline(page_itself)).to_have_text("Publishing version 2")
    for tab in (over_a_page, page_itself):
        tab.evaluate(NOTE_THE_SWAP)
    service.moves_on("published")
    time_passes(over_a_page)
    for tab in (over_a_page, page_itself):
        tab.evaluate("swapped")
        tab.keyboard.press("Escape")
        expect(tab.locator("#publish")).to_have_count(0)
        expect(tab).to_have_url(re.compile(f"{at.audience}$"))
        expect(tab.locator("#head")).to_contain_text("Version 2 live")


def test_publishing_again_after_back_shows_the_first(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    page = opened(at.publish)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("Publishing version 2")
    page.goto("/activity/")
    page.go_back()
    expect(headline(page)).to_have_text("Publishing version 2")
    assert len(service.keys) == 1


def test_an_unknown_outcome_is_resent_with_its_key(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    service.way = answers(500)
    page = opened(at.audience)
    ask_to_publish(page)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("We don’t know if version 2 was published")
    # The page checks once by itself, and shows the result before anyone asks.
    expect(dialog(page)).to_contain_text("version 2 is still draft (live: version 1)")
    reads = service.reads
    with page.expect_response("**/check/"):
        press(page, "Check now")
    settle(page)
    assert service.reads > reads
    expect(dialog(page)).to_contain_text("version 2 is still draft (live: version 1)")
    assert len(service.keys) == 1
    service.way = accepts
    press(page, "Retry with the same key")
    expect(headline(page)).to_have_text("Publishing version 2")
    assert len(service.keys) == 2
    assert len(set(service.keys)) == 1


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize("is_modal", [True, False])
def test_a_dashboard_failure_is_shown_in_the_dialog(
    is_modal: bool, opened: Opened, service: PublishingService, at: Places, troubles: list[str]
) -> None:
    assert service.latest
    service.latest |= {"supplementaryContext": "Runs 71 trucks. " * 400}
    page = opened(at.audience if is_modal else at.publish)
    if is_modal:
        ask_to_publish(page)
    note = '<div class="note" data-tone="bad" role="alert">Sent, outcome unknown.</div>'
    page.route(f"**{at.publish}", lambda route: route.fulfill(status=500, body=note))
    press(page, "Publish version 2")
    expect(dialog(page).get_by_role("alert")).to_have_text("Sent, outcome unknown.")
    expect(dialog(page).get_by_role("alert")).to_be_in_viewport(ratio=1)
    troubles.clear()  # the browser itself logs a 500


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize("is_in_the_dialog", [True, False])
def test_resending_over_a_newer_version_asks_for_its_number(
    is_in_the_dialog: bool, opened: Opened, service: PublishingService, at: Places
) -> None:
    service.way = answers(500)
    page = opened(at.publish)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("We don’t know if version 2 was published")
    expect(dialog(page)).to_contain_text("version 2 is still draft (live: version 1)")
    service.way = accepts
    service.latest = service.live = wire.live_version(versionId="ver_3", versionNumber=3)
    if is_in_the_dialog:
        press(page, "Retry with the same key")
    else:
        dialog(page).get_by_role("link", name="Activity").click()
        page.get_by_role("button", name="Retry with the same key").click()
    expect(headline(page)).to_have_text("Publish version 2?")
    expect(dialog(page)).to_contain_text("Version 3 is newer.")
    expect(dialog(page).get_by_label("Type 2 to retry")).to_be_focused()
    assert barriers(page, DIALOG) == []
    assert len(service.keys) == 1
    dialog(page).get_by_label("Type 2 to retry").fill("2")
    press(page, "Retry with the same key")
    expect(headline(page)).to_contain_text("Publishing version")
    assert len(service.keys) == 2
    assert len(set(service.keys)) == 1


def test_an_unknown_outcome_settles_once_the_truth_is_seen(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    service.way = answers(500)
    page = opened(at.publish)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("We don’t know if version 2 was published")
    service.moves_on("queued", queuedAt=now())
    time_passes(page)
    expect(headline(page)).to_have_text("Publishing version 2", timeout=PATIENCE_MS)
    assert len(service.keys) == 1


def test_a_killed_dashboard_shows_the_truth_after_restart(
    browser: Browser, tmp_path: Path, troubles: list[str]
) -> None:
    """One of two publishes was carried out."""
    services, arrived, released, port = ManyServices(), Semaphore(0), Event(), free_port()

    def slow(of: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = answers(200, carried_out=of is carried_out)(of, request)
        arrived.release()
        released.wait(60)
        return answer

    carried_out, lost = PublishingService(slow), PublishingService(slow)
    outcomes = (
        (services.add(carried_out), "Publishing version 2"),
        (services.add(lost), "We don’t know if version 2 was published"),
    )
    with over_http(services) as url, new_profile(browser, f"http://127.0.0.1:{port}") as context:
        context.clock.install()
        dashboard = Dashboard(tmp_path, url)
        dashboard.prepare()
        with dashboard.started(port=port) as first:
            sign_in(context, "root")
            tabs = [open_page(context, troubles) for _ in outcomes]
            for page, (at, _) in zip(tabs, outcomes, strict=True):
                page.goto(at.audience)
                ask_to_publish(page)
                press(page, "Publish version 2")
                assert arrived.acquire(timeout=60)
            first.kill()
            for page in tabs:
                expect(dialog(page).get_by_role("alert")).to_contain_text(
                    "it’s unknown whether this was sent"
                )
        released.set()
        with dashboard.started(port=port):
            for page, (at, _) in zip(tabs, outcomes, strict=True):
                page.goto(at.publish)
                expect(headline(page)).to_have_text("Sending version 2")
            dashboard.lets_a_minute_pass()
            time_passes(tabs[0])
            for page, (_, sentence) in zip(tabs, outcomes, strict=True):
                expect(headline(page)).to_have_text(sentence, timeout=PATIENCE_MS)
            page.goto("/activity/")
            newest_first = ["Outcome unknown", "Accepted"]
            expect(page.locator(".log summary")).to_contain_text(newest_first)
    assert (len(carried_out.keys), len(lost.keys)) == (1, 1)


@dataclass
class StateChecks:
    """Accessibility problems of a page's states, and states that are wider than a phone.

    A run checks each state in one theme, by turns; --exhaustive checks both.
    """

    config: pytest.Config
    problems: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def check(self, state: str, page: Page, where: str = WHOLE) -> None:
        page.set_viewport_size({"width": 360, "height": 740})
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        matching = ["too wide"] if wide else []
        for theme in sampled(THEMES, self.config, turn=self.count % 2, of=2):
            page.emulate_media(color_scheme=theme)
            matching += [f"{theme}: {barrier}" for barrier in barriers(page, where)]
        self.count += 1
        if matching:
            self.problems[state] = matching


def test_every_state_of_a_publish_is_readable_by_all(
    services_profile_with_clock: ReusedProfile,
    service: PublishingService,
    at: Places,
    pytestconfig: pytest.Config,
) -> None:
    """The page below the dialog stays the same, so it is checked once."""
    states = StateChecks(pytestconfig)
    # axe itself violates the policy, so this tab doesn't record troubles.
    page = log_in(services_profile_with_clock.open().new_page(), "root", to=at.audience)
    service.way = answers(409, "The page is locked.")
    service.page |= {"status": "archived"}
    ask_to_publish(page)
    states.check("confirmation", page)
    press(page, "Publish version 2")
    expect(dialog(page).get_by_label("Type 2 to publish")).to_be_focused()
    states.check("held back", page, DIALOG)
    page.keyboard.type("2")
    press(page, "Publish version 2")
    expect(dialog(page)).to_contain_text("The page is locked.")
    states.check("rejected", page, DIALOG)
    service.way = answers(500)
    dialog(page).get_by_label("Type 2 to publish").fill("2")
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("We don’t know if version 2 was published")
    states.check("unknown", page, DIALOG)
    service.moves_on("queued", queuedAt=now())
    time_passes(page)
    expect(headline(page)).to_have_text("Publishing version 2", timeout=PATIENCE_MS)
    states.check("in progress", page, DIALOG)
    page.goto(at.versions)
    states.check("history", page)
    service.moves_on("published")
    time_passes(page)
    expect(page.locator("#head")).to_contain_text("Version 2 live", timeout=PATIENCE_MS)
    states.check("history at the end", page)
    services_profile_with_clock.empty()
    assert states.problems == {}


@pytest.mark.parametrize("end", ["<dialog open[^>]*>", "data-wide>"])
def test_a_dialog_that_arrives_in_parts_never_moves(opened: Opened, at: Places, end: str) -> None:
    page = opened(at.publish)
    whole = page.locator(DIALOG).bounding_box()
    assert whole

    def send_a_part(route: Route) -> None:
        response = route.fetch()
        first = re.search(f".*?{end}", response.text(), re.DOTALL)
        assert first
        route.fulfill(response=response, body=first[0])

    page.route(f"**{at.publish}", send_a_part)
    page.goto(at.publish)
    part = page.locator(DIALOG).bounding_box()
    assert part
    is_same = (part["x"], part["width"]) == (whole["x"], whole["width"])
    assert is_same or not page.locator(DIALOG).is_visible()


def test_the_history_follows_a_version_in_progress(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    service.moves_on("queued", queuedAt=now())
    page = opened(at.versions)
    expect(page.locator("#watch")).to_contain_text("Publishing version 2")
    choice = page.get_by_role("radio", name="From version 2")
    choice.check()
    page.get_by_role("radio", name="To version 1").check()
    choice.focus()
    page.evaluate("window.scrollTo(0, 60)")
    scrolled = page.evaluate("scrollY")
    service.moves_on("processing")
    time_passes(page)
    expect(page).to_have_title(re.compile("^Version 2: processing"), timeout=PATIENCE_MS)
    service.moves_on("published")
    time_passes(page)
    expect(page.locator("#watch")).not_to_contain_text("Publishing", timeout=PATIENCE_MS)
    expect(page.locator(f"#row-ver_2{at.mark}")).to_contain_text("Live")
    expect(page.locator(f"#row-ver_1{at.mark} header .badge")).to_have_text("Superseded")
    expect(page.locator("#head")).to_contain_text("Version 2 live")
    expect(page.locator("#versions > li")).to_have_count(2)
    expect(choice).to_be_focused()
    expect(choice).to_be_checked()
    expect(page.get_by_role("radio", name="To version 1")).to_be_checked()
    assert page.evaluate("scrollY") == scrolled
    # The follow-up's buttons work at once.
    ask_to_roll_back(page)


def test_a_row_follows_its_publish_to_the_end(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    page = opened(at.page)
    page.evaluate("window.isSamePage = true")
    row = page.locator("tr", has=page.get_by_role("link", name="Brightwater Foods").first)
    ask_to_publish(page, "Publish 2")
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("Publishing version 2", timeout=PATIENCE_MS)
    # Updated behind the dialog, which stays open.
    time_passes(page)
    expect(row).to_contain_text("Queued", timeout=PATIENCE_MS)
    expect(dialog(page)).to_be_visible()
    assert page.evaluate("isSamePage")
    page.goto(at.page)
    page.evaluate("window.isSamePage = true")
    page.evaluate(NOTE_ANNOUNCEMENTS)
    watch = row.get_by_role("link", name="View progress")
    watch.focus()
    service.moves_on("processing")
    time_passes(page)
    expect(row).to_contain_text("Processing", timeout=PATIENCE_MS)
    expect(watch).to_be_focused()
    service.moves_on("published")
    time_passes(page)
    expect(row).to_contain_text("Up to date", timeout=PATIENCE_MS)
    expect(row.get_by_text("Live")).to_have_count(2)
    expect(row).to_be_focused()
    # As a function: an expression would be evaluated again in the page, which its policy forbids.
    page.wait_for_function(
        "() => announced.some((text) => /Brightwater Foods: .*Up to date/.test(text))"
    )
    assert page.evaluate("isSamePage")
    assert reads_of_an_idle_page(page) == []


def reads_of_an_idle_page(page: Page) -> list[str]:
    """Let ten minutes pass until a poll finds nothing new, and return what else was requested.

    Polls that find something come first: entries of the feed that the page caused itself, and
    those of other tests at the same server. A page that reads on regardless does so at each poll.
    """
    others = ("/health/live", "/live/")
    reads: list[str] = []
    polls: list[Response] = []
    page.on("request", lambda request: reads.append(request.url))

    def note_poll(response: Response) -> None:
        if "/live/?" in response.url:
            polls.append(response)

    def is_polled() -> bool:
        # While a poll is in progress, no later one is due yet.
        page.clock.fast_forward("10:00")
        return bool(polls)

    page.on("response", note_poll)
    for _ in range(6):
        reads.clear()
        polls.clear()
        until(page, is_polled)
        # Answered after whatever the poll made the page request.
        page.evaluate("fetch('/health/live')")
        settle(page)
        reads[:] = [url for url in reads if not any(item in url for item in others)]
        if polls[-1].status == HTTPStatus.NO_CONTENT and not reads:
            break
    return reads


def test_the_head_of_an_audience_follows_its_publish(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    page = opened(at.audience)
    head = page.locator("#head")
    expect(head).to_contain_text("Version 2 draft")
    ask_to_publish(page)
    press(page, "Publish version 2")
    expect(headline(page)).to_have_text("Publishing version 2")
    time_passes(page)
    expect(head).to_contain_text("Version 2 queued", timeout=PATIENCE_MS)
    expect(dialog(page)).to_be_visible()
    service.moves_on("published")
    time_passes(page)
    expect(head).to_contain_text("Version 2 live", timeout=PATIENCE_MS)
    expect(page.locator("#live")).to_contain_text("root")
    expect(head.get_by_role("link", name="Publish")).to_have_count(0)
    expect(headline(page)).to_have_text("Version 2 is live", timeout=PATIENCE_MS)


def test_a_hidden_tab_polls_again_when_visible(
    opened: Opened, service: PublishingService, at: Places
) -> None:
    service.moves_on("queued", queuedAt=now())
    page = opened(at.versions)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    for _ in range(3):
        time_passes(page)
    page.evaluate(NEXT_FRAME)
    assert sent == []
    service.moves_on("published")
    page.evaluate("delete document.hidden")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#head")).to_contain_text("Version 2 live", timeout=PATIENCE_MS)
    assert sent
