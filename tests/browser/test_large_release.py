"""An operator publishes many versions, power fails halfway, and they are rolled back.

A run takes 26 versions, because above 25 the number must be typed; `--exhaustive` takes a hundred.
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

TIMEOUT_S = 3
ROWS_SHOWN = 50
RUN_MS = 120_000
"""A worker reads the service every five seconds, and several times for each release."""


class FailingAudiences(PublishingAudiences):
    """Rejects three versions, hangs on one, and holds back another until the power is cut.

    The list and the release have the latest audience first. The audience in the middle is held
    back; one before it is rejected.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count, self.is_cut = count, Event()
        self.held_back, self.hangs = f"aud_{count // 2 + 1}", f"aud_{count // 3}"
        self.rejected = [f"aud_{number}" for number in (count // 2 + 3, count // 2 - 1, count // 5)]
        self.ways = dict.fromkeys(self.rejected, responds(409, "It is locked by an agent"))
        self.ways |= {self.hangs: self.hang, self.held_back: self.hold_back}
        self.add(count)

    @property
    def live_count(self) -> int:
        """How many versions go live."""
        return self.count - len(self.rejected) - 1

    @property
    def left_out(self) -> list[str]:
        """What a rollback says about the others."""
        failed = [f"Name of {item}: It failed, so nothing changed." for item in self.rejected]
        return [*failed, f"Name of {self.hangs}: Left out until its outcome is known."]

    def record(self) -> None:
        """Record nothing: the dashboard has a database of its own."""

    def hang(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Do nothing until the client has given up."""
        time.sleep(TIMEOUT_S + 1)
        raise httpx.ReadError("closed")

    def hold_back(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Publish a version, and respond after the client has gone."""
        response = httpx.Response(200, json=self.carry_out(key, version_id))
        self.is_cut.wait(PATIENCE_S)
        return response

    @property
    def live_numbers(self) -> dict[str, int]:
        """The number of the live version of each audience."""
        matching = {key[1]: item["publishedVersion"] for key, item in self.audiences.items()}
        return {audience_id: version["versionNumber"] for audience_id, version in matching.items()}


class PoweredDashboard(Dashboard):
    """A dashboard with a worker. Both can be killed and restarted at their address."""

    def __init__(self, folder: Path, service_url: str, stack: ExitStack) -> None:
        super().__init__(folder, service_url, timeout_s=PATIENCE_S)
        self.stack, self.port = stack, free_port()
        self.prepare()
        self.running = self.start()

    def start(self) -> Running:
        return self.stack.enter_context(self.started(port=self.port, has_worker=True))

    def lose_power(self) -> None:
        """Kill everything and restart it a minute later, by the database's clock."""
        self.running.kill()
        self.lets_a_minute_pass()
        self.env["SERVICE_TIMEOUT_S"] = str(TIMEOUT_S)
        self.running = self.start()


@pytest.fixture
def service(pytestconfig: pytest.Config) -> FailingAudiences:
    """A service with many audiences, each with a draft over a live version."""
    return FailingAudiences(100 if pytestconfig.getoption("exhaustive") else 26)


@pytest.fixture
def dashboard(service: FailingAudiences, tmp_path: Path) -> Iterator[PoweredDashboard]:
    """A dashboard in front of that service."""
    with over_http(service) as url, ExitStack() as stack:
        yield PoweredDashboard(tmp_path, url, stack)


@pytest.fixture
def operator(browser: Browser, dashboard: PoweredDashboard) -> Iterator[BrowserContext]:
    """A profile logged in to that dashboard."""
    with new_profile(browser, dashboard.running.url) as context:
        sign_in(context, "root")
        yield context


def select_all(page: Page, count: int) -> None:
    """Select all audiences in their list, and open the board of a release with them."""
    page.goto("/pages/page_1/")
    page.goto("/audiences/")
    page.get_by_label("Select all rows shown").check()
    if count > ROWS_SHOWN:
        page.get_by_role("button", name=f"Select all {count} that match").click()
    page.get_by_role("button", name=f"Publish {count}…").click()


def publish(page: Page, count: int) -> None:
    """Publish a release from its board, with the number typed."""
    expect(page.locator("#check")).to_contain_text("Checked", timeout=RUN_MS)
    page.get_by_label(f"Type {count} to publish now").fill(str(count))
    page.get_by_role("button", name=f"Publish {count} now").click()


def row(page: Page, audience_id: str) -> str:
    """Return the text of the row of an audience."""
    locator = page.get_by_role("row").filter(has_text=re.compile(rf"Name of {audience_id}\b"))
    return " ".join(locator.inner_text().split())


def test_a_large_release_survives_a_power_cut(
    operator: BrowserContext,
    dashboard: PoweredDashboard,
    service: FailingAudiences,
    troubles: list[str],
) -> None:
    page = open_page(operator, troubles)
    select_all(page, service.count)
    publish(page, service.count)
    see_half_sent(page, service)
    assert troubles == []
    dashboard.lose_power()
    service.is_cut.set()
    see_the_result(page, service)
    troubles.clear()  # The browser logs each request without a response.
    roll_back(page, service)
    assert set(service.live_numbers.values()) == {1}
    keys = service.operation_keys
    assert len(set(keys)) == len(keys) == service.count + service.live_count
    assert troubles == []


def see_half_sent(page: Page, service: FailingAudiences) -> None:
    """See the progress of a running release without reloading the page."""
    page.evaluate("window.isSamePage = true")
    sent = f"{service.count // 2} of {service.count} sent"
    expect(page.locator("#progress-h")).to_contain_text(sent, timeout=RUN_MS)
    assert page.evaluate("window.isSamePage")
    assert "Sending" in row(page, service.held_back)
    failed = "Failed The service returned 409: It is locked by an agent."
    assert failed in row(page, service.rejected[0])
    assert barriers(page) == []


def see_the_result(page: Page, service: FailingAudiences) -> None:
    """See the release end on the same page, with its result."""
    live, count = service.live_count, service.count
    heading = page.get_by_role("heading", name=f"{live} of {count} went live")
    expect(heading).to_be_visible(timeout=RUN_MS)
    assert page.evaluate("window.isSamePage")
    expect(page.locator("h1 + .badge")).to_have_text("Finished, 1 outcome unknown")
    tally = " ".join(page.locator(".tally-counts").inner_text().split())
    assert tally == f"Went live {live} Failed 3 Outcome unknown 1"
    attention = page.locator("#group-attention")
    expect(attention.get_by_role("rowheader", name="Needs attention 4")).to_be_visible()
    assert "Outcome unknown" in row(page, service.hangs)
    keys = service.operation_keys
    assert len(set(keys)) == len(keys) == count
    assert max(service.carried_out.values()) == 1
    assert sum(number == 2 for number in service.live_numbers.values()) == live
    retry = page.get_by_role("region", name="Failed versions")
    expect(retry).to_contain_text("3 of 3 failed versions can be retried.")
    unknown = f"Name of {service.hangs} Its outcome is unknown"
    expect(retry.get_by_role("listitem")).to_contain_text(unknown)
    assert barriers(page) == []


def roll_back(page: Page, service: FailingAudiences) -> None:
    """Roll back what went live, see what is left out, and see the rollback on the release."""
    title, live = page.locator("h1").inner_text(), service.live_count
    # Without a name, its title is its versions and when it was created.
    name = title.partition(",")[0]
    possible = f"{live} of {live} live versions can be rolled back."
    expect(page.get_by_text(possible)).to_be_visible()
    page.get_by_role("link", name=f"Roll back all {live}…").first.click()
    settle(page)
    assert barriers(page) == []
    page.get_by_role("button", name=f"Roll back all {live}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Roll back: {name}")
    left_out = page.locator(".messages, [role=status], [role=alert]").filter(has_text="left out")
    for sentence in service.left_out:
        expect(left_out.first).to_contain_text(sentence)
    heading = page.get_by_role("heading", name=f"{live} of {live} went live")
    expect(heading).to_be_visible(timeout=RUN_MS)
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.locator("header.head")).to_contain_text(f"Rolled back by Roll back: {name}")
