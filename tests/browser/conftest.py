"""A real Chromium in front of a real server process.

Nothing here touches the ORM: Playwright keeps an event loop running in the test's thread, under
which Django refuses to. So a worker ends its browser before it goes on to a test from elsewhere.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.browser.many_services import ManyServices, Places
from tests.browser.more_releases import add_releases
from tests.support.dashboards import over_http
from tests.support.fake_service import Answer
from tests.support.processes import Running, demo, fill_as_the_demo_does
from tests.support.publishing_service import PublishingService
from tests.support.shared_files import made_once
from tests.support.worker_processes import WorkerDashboard

# Debian's Chromium without windows takes two thirds of the time of the one with them.
BUILDS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
CHROMIUM = Path(os.environ.get("CHROMIUM_PATH") or next(filter(Path.exists, BUILDS), BUILDS[0]))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--no-zygote",
    "--num-raster-threads=1",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page lives long enough to gain from compilers that optimize: some 8 % of the time.
    "--js-flags=--no-opt --no-maglev",
    # Else each tab, and each page that a tab goes to, starts a process of its own: a sixth of the
    # time of a tab with one page.
    "--renderer-process-limit=1",
    # RenderDocument: with it, a tab that is closed while a page is on its way never ends. This list
    # is instead of Playwright's own, of which the other three matter here.
    "--disable-features=RenderDocument,PaintHolding,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "OptimizationHints",
]
# A machine on which many tests run at once takes its time.
PATIENCE_S = 30
expect.set_options(timeout=PATIENCE_S * 1000)
LOADING = ".htmx-request, [hx-trigger^=load]:not([data-polls], [hx-swap=none])"
NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""By then what a fold's opening asks for was asked, and what moved was noted."""
GIVEN_UP = ("htmx:afterRequest", "htmx:sendAbort")
"""Noted of a request that a newer one replaced, as when letters are typed slowly. The first is
noted of every failure, always with one that says which."""
JITTER = 1.2
"""The poll of every page waits so much longer than the server says at most."""
HAS_OWN_CLOCK = "() => '__pwClock' in window"
"""Whether Playwright's clock was installed: that is in all tabs of a profile."""
NOTE_ANNOUNCEMENTS = """window.announced = [];
new MutationObserver((changes) => changes.forEach(({ target }) => {
  const region = (target.closest ? target : target.parentElement)?.closest("[role=status]");
  if (region?.textContent.trim()) window.announced.push(region.textContent.trim());
})).observe(document, { childList: true, subtree: true, characterData: true });"""
REPORT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP ${event.effectiveDirective} ${event.blockedURI}`))"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, loudly, what needs a browser where there is none; in CI that is a failure."""
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        item.add_marker(pytest.mark.browser)
        if not CHROMIUM.exists() and not os.environ.get("REQUIRE_BROWSER"):
            item.add_marker(
                pytest.mark.skip(reason=f"NO BROWSER: {CHROMIUM} is missing; set CHROMIUM_PATH")
            )


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The demo, once a worker, each on data of its own."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copy(made_once("demo.sqlite3", fill_as_the_demo_does), folder / "demo.sqlite3")
    add_releases(folder / "demo.sqlite3")
    with demo(folder) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all that a worker does here in a row."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def open_page(context: BrowserContext, troubles: list[str]) -> Page:
    """Open a tab that notes every error, violation of the policy and request to elsewhere."""

    def note(line: ConsoleMessage) -> None:
        if line.type == "error" and not line.text.startswith(GIVEN_UP):
            troubles.append(line.text)

    page = context.new_page()
    page.add_init_script(REPORT_VIOLATIONS)
    page.on("console", note)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith("http://127.0.0.1") else troubles.append(request.url)
        ),
    )
    return page


def settle(page: Page) -> None:
    """Wait until every part that loads by itself, or was just asked for, is there.

    What asks again for as long as the page is open is not waited for.
    """
    page.evaluate(NEXT_FRAME)
    page.wait_for_function(f"() => !document.querySelector({LOADING!r})")
    page.evaluate(NEXT_FRAME)


def best(measure: Callable[[], float], *, below: float) -> float:
    """Return the least of up to ten measurements, the first that is below being enough.

    The machine has other things to do, which can only make any of them larger.
    """
    least = measure()
    for _ in range(9):
        if least < below:
            break
        least = min(least, measure())
    return least


def time_passes(page: Page) -> None:
    """Let as much time pass on a page as lies at most between two polls.

    It has to have a clock that the test can move, from before it was loaded.
    """
    # Here, as the pictures and the benchmarks import this module without settings.
    from dashboard.operations.publish_progress import MAX_POLL_INTERVAL_S

    page.clock.fast_forward(MAX_POLL_INTERVAL_S * JITTER * 1000)


def until(page: Page, holds: Callable[[], object], *, patience_s: float = PATIENCE_S) -> None:
    """Wait until something holds beyond the page, at the service say, and fail if it never does."""
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        page.wait_for_timeout(20)


@pytest.fixture
def troubles() -> list[str]:
    """What went wrong in the browser; a test that expects some takes them out."""
    return []


def new_profile(browser: Browser, url: str, **options: Any) -> BrowserContext:
    """Return a profile at an address."""
    context = browser.new_context(
        base_url=url,
        viewport={"width": 1280, "height": 800},
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
        locale="en-GB",
        **options,
    )
    context.set_default_timeout(PATIENCE_S * 1000)
    return context


class ReusedProfile:
    """A profile at one address, emptied after each test.

    A new one would start a process and load and compile all scripts, a quarter of a second of
    processor time for each test. Its scripts and styles stay in its cache.
    """

    def __init__(
        self, browser: Browser, url: str, *, has_clock: bool = False, **options: Any
    ) -> None:
        self._browser, self._url = browser, url
        self._has_clock, self._options = has_clock, options
        self._context: BrowserContext | None = None

    def open(self) -> BrowserContext:
        """Return the profile, with one tab that keeps its process running.

        A clock that tests move starts at the present again.
        """
        if self._context is None:
            self._context = new_profile(self._browser, self._url, **self._options)
            self._context.new_page().goto("/health/live")
        if self._has_clock:
            self._context.clock.install()
            self._context.clock.resume()
        return self._context

    def empty(self) -> None:
        """Close the tabs of a test and forget who was logged in and what was allowed.

        A clock that the test installed can't be taken out again: such a profile is given up.
        """
        context = self.open()
        ours, *tabs = context.pages
        for tab in tabs:
            tab.close()
        context.clear_cookies()
        context.clear_permissions()
        if not self._has_clock and ours.evaluate(HAS_OWN_CLOCK):
            context.close()
            self._context = None


@pytest.fixture(scope="package")
def reused_profile(browser: Browser, server: Running) -> ReusedProfile:
    """The profile that most tests use in turn."""
    return ReusedProfile(browser, server.url)


@pytest.fixture
def context(reused_profile: ReusedProfile, troubles: list[str]) -> Iterator[BrowserContext]:
    """An empty profile at the demo's address; the test fails on any trouble left."""
    yield reused_profile.open()
    reused_profile.empty()
    assert troubles == []


@pytest.fixture
def page(context: BrowserContext, troubles: list[str]) -> Page:
    """A tab."""
    return open_page(context, troubles)


@pytest.fixture(scope="package")
def reused_profile_with_clock(browser: Browser, server: Running) -> ReusedProfile:
    """The profile of tests that move the clock of a page."""
    return ReusedProfile(browser, server.url, has_clock=True)


@pytest.fixture
def timed_page(reused_profile_with_clock: ReusedProfile, troubles: list[str]) -> Iterator[Page]:
    """A tab whose clock the test can move."""
    yield open_page(reused_profile_with_clock.open(), troubles)
    reused_profile_with_clock.empty()
    assert troubles == []


@pytest.fixture(scope="package")
def reused_profile_without_scripts(browser: Browser, server: Running) -> ReusedProfile:
    """The profile of tests without JavaScript."""
    return ReusedProfile(browser, server.url, java_script_enabled=False)


@pytest.fixture
def plain_page(reused_profile_without_scripts: ReusedProfile) -> Iterator[Page]:
    """A tab in which no script runs."""
    yield reused_profile_without_scripts.open().new_page()
    reused_profile_without_scripts.empty()


@pytest.fixture
def lone_page(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """A tab in a profile of its own, to be taken offline.

    Tabs of one process get the event that it is online again before each of them is.
    """
    with new_profile(browser, server.url) as context:
        yield open_page(context, troubles)
    assert troubles == []


def token(context: BrowserContext) -> str:
    """Return what a form of a profile sends against forgery."""
    return next(cooky["value"] for cooky in context.cookies() if cooky["name"].endswith("_csrf"))


def end_session(context: BrowserContext) -> None:
    """Sign out of a profile without a request."""
    context.clear_cookies(name=re.compile("_session$"))


def sign_in(context: BrowserContext, name: str = "demo") -> None:
    """Give a profile the session of one of the demo's accounts; their passwords are their names.

    To render two pages for it takes half a second of processor time: whoever is about the form
    fills it.
    """
    context.request.get("/accounts/login/")
    form = {"username": name, "password": name, "csrfmiddlewaretoken": token(context)}
    answer = context.request.post("/accounts/login/", form=form, max_redirects=0)
    assert answer.status == 302, answer.text()


SESSIONS: WeakKeyDictionary[BrowserContext, dict[str, Any]] = WeakKeyDictionary()
"""The cookies that each profile got with the sessions of its accounts, by their names."""


def log_in(page: Page, name: str = "demo", *, to: str = "/") -> Page:
    """Open an address as one of the demo's accounts.

    A profile that is reused takes the session that it got before, unless a test has ended it.
    """
    sessions = SESSIONS.setdefault(page.context, {})
    if name in sessions:
        page.context.add_cookies(sessions[name])
        page.goto(to)
        if "/accounts/login/" not in page.url:
            return page
        page.context.clear_cookies()
    sign_in(page.context, name)
    sessions[name] = page.context.cookies()
    page.goto(to)
    return page


def confirm(page: Page, name: str = "demo") -> Page:
    """Type the password anew: for five minutes, the pages that change how one signs in are open."""
    page.goto("/accounts/again/")
    page.get_by_label("Password").fill(name)
    page.get_by_role("button", name="Confirm").click()
    page.wait_for_url("/")
    return page


@pytest.fixture
def service() -> PublishingService:
    """A service of one test, whose way of responding the test decides."""
    return PublishingService()


@pytest.fixture(scope="session")
def services() -> ManyServices:
    """The services of all tests of a worker, behind one address."""
    return ManyServices()


@pytest.fixture(scope="session")
def services_dashboard(
    services: ManyServices, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkerDashboard]:
    """A dashboard before these services, once a worker of the suite."""
    with over_http(services) as url:
        dashboard = WorkerDashboard(tmp_path_factory.mktemp("services"), url)
        dashboard.prepare()
        yield dashboard


@pytest.fixture(scope="session")
def running(services_dashboard: WorkerDashboard) -> Iterator[Running]:
    """The server of that dashboard; no worker runs."""
    with services_dashboard.started() as started:
        yield started


@pytest.fixture(scope="package")
def services_profile(browser: Browser, running: Running) -> ReusedProfile:
    """The profile of tests with a service of their own."""
    return ReusedProfile(browser, running.url)


@pytest.fixture(scope="package")
def services_profile_with_clock(browser: Browser, running: Running) -> ReusedProfile:
    """The same, of tests that move the clock of a page."""
    return ReusedProfile(browser, running.url, has_clock=True)


@pytest.fixture
def at(services: ManyServices, service: Answer) -> Places:
    """Where the test's own service is found."""
    return services.add(service)
