"""An operator publishes a hundred versions, the power fails in the middle, and takes them back.

The service rejects three versions and never responds to one. The dashboard has a real worker.
"""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import PATIENCE_S, new_profile, open_page, settle, sign_in
from tests.support.dashboards import Dashboard, over_http
from tests.support.many_audiences import Key
from tests.support.processes import Running, free_port
from tests.support.release_service import PublishingAudiences, responds

COUNT, FIFTIETH = 100, "aud_51"
"""The list has the latest audience first, and so does the release."""
REJECTED, HANGS = ("aud_60", "aud_40", "aud_20"), "aud_30"
LIVE = COUNT - len(REJECTED) - 1
LEFT_OUT = [
    *(f"Name of {each}: It failed, so nothing changed." for each in REJECTED),
    f"Name of {HANGS}: Left out until its outcome is known.",
]
TIMEOUT_S = 3
RUN_MS = 120_000
"""A worker reads the service every five seconds, and each release several times."""


class HundredAudiences(PublishingAudiences):
    """Rejects three versions, hangs on one, and holds another one back until the power is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.is_cut = Event()
        self.ways = dict.fromkeys(REJECTED, responds(409, "It is locked by an agent"))
        self.ways |= {HANGS: self.hang, FIFTIETH: self.hold_back}
        self.add(COUNT)

    def record(self) -> None:
        """Record nothing: the dashboard has a database of its own."""

    def hang(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Do nothing until the client has given up."""
        time.sleep(TIMEOUT_S + 1)
        raise httpx.ReadError("closed")

    def hold_back(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Publish a version, and respond when there is no client any more."""
        response = httpx.Response(200, json=self.carry_out(key, version_id))
        self.is_cut.wait(PATIENCE_S)
        return response

    @property
    def live_numbers(self) -> dict[str, int]:
        """The number of the live version of each audience."""
        found = {key[1]: each["publishedVersion"] for key, each in self.audiences.items()}
        return {audience_id: version["versionNumber"] for audience_id, version in found.items()}


class PoweredDashboard(Dashboard):
    """A dashboard with a worker, both of which can be killed and started again at their address."""

    def __init__(self, folder: Path, service_url: str, stack: ExitStack) -> None:
        super().__init__(folder, service_url, timeout_s=PATIENCE_S)
        self.stack, self.port = stack, free_port()
        self.prepare()
        self.running = self.start()

    def start(self) -> Running:
        return self.stack.enter_context(self.started(port=self.port, has_worker=True))

    def lose_power(self) -> None:
        """Kill everything and start it again a minute later, by the clock of the database."""
        self.running.kill()
        self.lets_a_minute_pass()
        self.env["SERVICE_TIMEOUT_S"] = str(TIMEOUT_S)
        self.running = self.start()


@pytest.fixture
def hundred() -> HundredAudiences:
    """A service with a hundred audiences, each with a draft over a live version."""
    return HundredAudiences()


@pytest.fixture
def dashboard(hundred: HundredAudiences, tmp_path: Path) -> Iterator[PoweredDashboard]:
    """A dashboard in front of that service."""
    with over_http(hundred) as url, ExitStack() as stack:
        yield PoweredDashboard(tmp_path, url, stack)


@pytest.fixture
def operator(browser: Browser, dashboard: PoweredDashboard) -> Iterator[BrowserContext]:
    """A profile that is logged in there."""
    with new_profile(browser, dashboard.running.url) as context:
        sign_in(context, "root")
        yield context


def select_all(page: Page) -> None:
    """Select all audiences in their list, and open the board of a release of them."""
    page.goto("/pages/page_1/")
    page.goto("/audiences/")
    page.get_by_label("Select all rows shown").check()
    page.get_by_role("button", name=f"Select all {COUNT} that match").click()
    page.get_by_role("button", name=f"Publish {COUNT}…").click()


def publish(page: Page, count: int) -> None:
    """Publish a release from its board, with the number typed."""
    expect(page.locator("#check")).to_contain_text("Checked", timeout=RUN_MS)
    page.get_by_label(f"Type {count} to publish now").fill(str(count))
    page.get_by_role("button", name=f"Publish {count} now").click()


def row(page: Page, audience_id: str) -> str:
    """Return the text of the row of an audience."""
    found = page.get_by_role("row").filter(has_text=re.compile(rf"Name of {audience_id}\b"))
    return " ".join(found.inner_text().split())


def test_a_hundred_survive_a_power_cut_and_are_taken_back(
    operator: BrowserContext,
    dashboard: PoweredDashboard,
    hundred: HundredAudiences,
    troubles: list[str],
) -> None:
    page = open_page(operator, troubles)
    select_all(page)
    publish(page, COUNT)
    see_fifty_sent(page)
    assert troubles == []
    dashboard.lose_power()
    hundred.is_cut.set()
    see_the_result(page, hundred)
    troubles.clear()  # The browser notes each request that got no response.
    roll_back(page)
    assert set(hundred.live_numbers.values()) == {1}
    assert len(set(hundred.operation_keys)) == len(hundred.operation_keys) == COUNT + LIVE
    assert troubles == []


def see_fifty_sent(page: Page) -> None:
    """See the progress of a running release without loading it again."""
    page.evaluate("window.isSamePage = true")
    expect(page.locator("#progress-h")).to_contain_text(f"50 of {COUNT} sent", timeout=RUN_MS)
    assert page.evaluate("window.isSamePage")
    assert "Sending" in row(page, FIFTIETH)
    assert "Failed The service returned 409: It is locked by an agent." in row(page, REJECTED[0])
    assert barriers(page) == []


def see_the_result(page: Page, hundred: HundredAudiences) -> None:
    """See the release end on the same page, and what it ended in."""
    heading = page.get_by_role("heading", name=f"{LIVE} of {COUNT} went live")
    expect(heading).to_be_visible(timeout=RUN_MS)
    assert page.evaluate("window.isSamePage")
    expect(page.locator("h1 + .badge")).to_have_text("Finished, 1 outcome unknown")
    tally = " ".join(page.locator(".tally-counts").inner_text().split())
    assert tally == f"Live {LIVE} Failed 3 Outcome unknown 1"
    attention = page.locator("#group-attention")
    expect(attention.get_by_role("rowheader", name="Needs attention 4")).to_be_visible()
    assert "Outcome unknown" in row(page, HANGS)
    assert len(set(hundred.operation_keys)) == len(hundred.operation_keys) == COUNT
    assert max(hundred.carried_out.values()) == 1
    assert sum(number == 2 for number in hundred.live_numbers.values()) == LIVE
    retry = page.get_by_role("region", name="Failed versions")
    expect(retry).to_contain_text("3 of 3 failed versions can be retried.")
    expect(retry.get_by_role("listitem")).to_contain_text(f"Name of {HANGS} Its outcome is unknown")
    assert barriers(page) == []


def roll_back(page: Page) -> None:
    """Take back what went live, see what is left out, and see it on the release itself."""
    name = page.locator("h1").inner_text()
    possible = f"{LIVE} of {LIVE} live versions can be rolled back."
    expect(page.get_by_text(possible)).to_be_visible()
    page.get_by_role("button", name=f"Review rollback of {LIVE}…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Roll back: {name}")
    left_out = page.locator(".messages, [role=status], [role=alert]").filter(has_text="left out")
    for sentence in LEFT_OUT:
        expect(left_out.first).to_contain_text(sentence)
    settle(page)
    assert barriers(page) == []
    publish(page, LIVE)
    heading = page.get_by_role("heading", name=f"{LIVE} of {LIVE} went live")
    expect(heading).to_be_visible(timeout=RUN_MS)
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("header.head")).to_contain_text(f"Rolled back by Roll back: {name}")
