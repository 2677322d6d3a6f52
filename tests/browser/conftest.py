"""A real Chromium in front of a real server process.

Nothing here touches the ORM: Playwright runs an event loop in the test's thread, and Django
refuses to work there. So a worker ends its browser before it runs a test of another folder.
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
    Locator,
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

# Debian's headless shell takes two thirds of the time of the full Chromium.
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
    # No page lives long enough to gain from optimizing compilers. Saves some 8 % of the time.
    "--js-flags=--no-opt --no-maglev",
    # Otherwise each tab, and each page that a tab opens, starts its own process. That takes a
    # sixth of the time of a tab with one page.
    "--renderer-process-limit=1",
    # With RenderDocument, a tab that is closed while a page loads never ends. This list replaces
    # Playwright's own, of which the other three matter here.
    "--disable-features=RenderDocument,PaintHolding,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "OptimizationHints",
]
# Generous, because many tests run at once.
PATIENCE_S = 30
expect.set_options(timeout=PATIENCE_S * 1000)
LOADING = ".htmx-request, [hx-trigger^=load]:not([data-polls], [hx-swap=none])"
NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""Resolves once an opened fold has sent its request and layout shifts were noted."""
GIVEN_UP = ("htmx:afterRequest", "htmx:sendAbort")
"""Events that htmx logs when a newer request replaces one, as when letters are typed slowly. The
first is logged for every failure, always with another that says which."""
JITTER = 1.2
"""Largest factor by which the poll of a page extends the wait that the server says."""
POLL = "document.dispatchEvent(new Event('visibilitychange'))"
"""Lets a page poll at once, as on the way back to its tab."""
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""As when the user goes to another tab; with false, as on the way back."""
HAS_OWN_CLOCK = "() => '__pwClock' in window"
"""Whether Playwright's clock was installed; it then is in all tabs of a profile."""
NOTE_ANNOUNCEMENTS = """window.announced = [];
new MutationObserver((changes) => changes.forEach(({ target }) => {
  const region = (target.closest ? target : target.parentElement)?.closest("[role=status]");
  if (region?.textContent.trim()) window.announced.push(region.textContent.trim());
})).observe(document, { childList: true, subtree: true, characterData: true });"""
REPORT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP ${event.effectiveDirective} ${event.blockedURI}`))"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser, skip the tests that need one, with a message; in CI they fail."""
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
    """The demo, started once per worker, with its own data."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copy(made_once("demo.sqlite3", fill_as_the_demo_does), folder / "demo.sqlite3")
    add_releases(folder / "demo.sqlite3")
    with demo(folder) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all browser tests that a worker runs in a row."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def open_page(context: BrowserContext, troubles: list[str]) -> Page:
    """Open a tab that records every error, policy violation and request to another host."""

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
    """Wait until every part that loads by itself, or was just requested, is there.

    Doesn't wait for polls, which repeat for as long as the page is open.
    """
    page.evaluate(NEXT_FRAME)
    page.wait_for_function(f"() => !document.querySelector({LOADING!r})")
    page.evaluate(NEXT_FRAME)


def best(measure: Callable[[], float], *, below: float) -> float:
    """Return the least of up to ten measurements; stop at the first that is below `below`.

    Other load on the machine can only make a measurement larger.
    """
    least = measure()
    for _ in range(9):
        if least < below:
            break
        least = min(least, measure())
    return least


def time_passes(page: Page) -> None:
    """Advance a page's clock by the longest time between two polls.

    The page needs a clock that the test installed before the page was loaded.
    """
    # Imported here because the pictures and benchmarks import this module without settings.
    from dashboard.operations.publish_progress import MAX_POLL_INTERVAL_S

    page.clock.fast_forward(MAX_POLL_INTERVAL_S * JITTER * 1000)


def until(page: Page, holds: Callable[[], object], *, patience_s: float = PATIENCE_S) -> None:
    """Wait until a condition outside the page holds, at the service say; fail if it never does."""
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        page.wait_for_timeout(20)


def follow(page: Page, change: Locator) -> None:
    """Let a page poll, without its wait between polls, until it shows what others have changed."""

    def is_shown() -> bool:
        page.evaluate(POLL)
        return change.count() > 0

    until(page, is_shown, patience_s=2 * PATIENCE_S)


@pytest.fixture
def troubles() -> list[str]:
    """Errors in the browser. A test that expects some removes them."""
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
    """A profile at one address, cleared after each test.

    A new profile would start a process and load and compile all scripts, which takes a quarter of
    a second of processor time per test. This one keeps scripts and styles in its cache.
    """

    def __init__(
        self, browser: Browser, url: str, *, has_clock: bool = False, **options: Any
    ) -> None:
        self._browser, self._url = browser, url
        self._has_clock, self._options = has_clock, options
        self._context: BrowserContext | None = None

    def open(self) -> BrowserContext:
        """Return the profile, with a tab that keeps its process running.

        A clock that tests move is reset to the present.
        """
        if self._context is None:
            self._context = new_profile(self._browser, self._url, **self._options)
            self._context.new_page().goto("/health/live")
        if self._has_clock:
            self._context.clock.install()
            self._context.clock.resume()
        return self._context

    def empty(self) -> None:
        """Close the tabs of a test and clear its logins and permissions.

        A clock that the test installed can't be removed, so such a profile is closed.
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
    """An empty profile at the demo's address. The test fails if any trouble is left."""
    yield reused_profile.open()
    reused_profile.empty()
    assert troubles == []


@pytest.fixture
def page(context: BrowserContext, troubles: list[str]) -> Page:
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
    """A tab in its own profile, to be taken offline.

    Tabs of one process get the event for being online again before each of them is online.
    """
    with new_profile(browser, server.url) as context:
        yield open_page(context, troubles)
    assert troubles == []


def token(context: BrowserContext) -> str:
    """Return the CSRF token of a profile."""
    return next(cooky["value"] for cooky in context.cookies() if cooky["name"].endswith("_csrf"))


def end_session(context: BrowserContext) -> None:
    """Sign out of a profile without a request."""
    context.clear_cookies(name=re.compile("_session$"))


def sign_in(context: BrowserContext, name: str = "demo") -> None:
    """Sign in to one of the demo's accounts, whose passwords are their names.

    Uses requests, as rendering the two pages takes half a second of processor time. Tests of the
    form itself fill it in.
    """
    context.request.get("/accounts/login/")
    form = {"username": name, "password": name, "csrfmiddlewaretoken": token(context)}
    answer = context.request.post("/accounts/login/", form=form, max_redirects=0)
    assert answer.status == 302, answer.text()


SESSIONS: WeakKeyDictionary[BrowserContext, dict[str, Any]] = WeakKeyDictionary()
"""Session cookies of each profile by account name."""


def log_in(page: Page, name: str = "demo", *, to: str = "/") -> Page:
    """Open an address as a user of the demo.

    A reused profile reuses its earlier session, unless a test has ended it.
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
    """Enter the password again, which opens the pages of sign-in settings for five minutes."""
    page.goto("/accounts/again/")
    page.get_by_label("Password").fill(name)
    page.get_by_role("button", name="Confirm").click()
    page.wait_for_url("/")
    return page


@pytest.fixture
def service() -> PublishingService:
    """The service of one test, which decides how it responds."""
    return PublishingService()


@pytest.fixture(scope="session")
def services() -> ManyServices:
    """The services of all tests of a worker, behind one address."""
    return ManyServices()


@pytest.fixture(scope="session")
def services_dashboard(
    services: ManyServices, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkerDashboard]:
    """A dashboard in front of these services, one per worker."""
    with over_http(services) as url:
        dashboard = WorkerDashboard(tmp_path_factory.mktemp("services"), url)
        dashboard.prepare()
        yield dashboard


@pytest.fixture(scope="session")
def running(services_dashboard: WorkerDashboard) -> Iterator[Running]:
    """The server of that dashboard, without a worker process."""
    with services_dashboard.started() as started:
        yield started


@pytest.fixture(scope="package")
def services_profile(browser: Browser, running: Running) -> ReusedProfile:
    """The profile of tests with their own service."""
    return ReusedProfile(browser, running.url)


@pytest.fixture(scope="package")
def services_profile_with_clock(browser: Browser, running: Running) -> ReusedProfile:
    """The same, for tests that move the clock of a page."""
    return ReusedProfile(browser, running.url, has_clock=True)


@pytest.fixture
def at(services: ManyServices, service: Answer) -> Places:
    """The addresses of the test's own service."""
    return services.add(service)
