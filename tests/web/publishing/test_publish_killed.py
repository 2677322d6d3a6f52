"""A dashboard that is killed during a publish shows the true outcome after a restart."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

import httpx
import pytest

from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.html import response_text
from tests.support.publishing_service import PublishingService, answers

PAGES = {True: "page_done", False: "page_lost"}
"""The page of each publish, by whether the service carries it out."""


def publish(page_id: str) -> str:
    """Return the URL that publishes a version of the page."""
    return f"/pages/{page_id}/audiences/aud_1/versions/ver_2/publish/"


@dataclass(frozen=True)
class RestartedPublish:
    """The texts of a publish after the dashboard was restarted."""

    at_once: str
    later: str
    """Text after the response has timed out."""
    record: str
    keys: int
    """Number of publishes that reached the service."""


RestartedPublishes = dict[str, RestartedPublish]


class HoldingService(PublishingService):
    """Responds to a publish only after the dashboard was killed."""

    def __init__(self, *, is_carried_out: bool) -> None:
        super().__init__(way=self.holds)
        self.does = answers(200, carried_out=is_carried_out)
        self.arrived, self.released = Event(), Event()

    def holds(self, service: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = self.does(service, request)
        self.arrived.set()
        self.released.wait(60)
        return answer


def click_publish(browser: httpx.Client, address: str) -> None:
    page = browser.get(address)
    names = ("operation_key", "csrfmiddlewaretoken")
    # The killed process closes the connection.
    with suppress(httpx.TransportError):
        browser.post(address, data={name: hidden(page, name) for name in names})


@pytest.fixture(scope="module")
def publishes(tmp_path_factory: pytest.TempPathFactory) -> RestartedPublishes:
    """The texts for each page after both publishes were killed at once."""
    services = {page: HoldingService(is_carried_out=done) for done, page in PAGES.items()}
    with over_http(lambda request: services[request.url.path.split("/")[3]](request)) as url:
        dashboard = Dashboard(tmp_path_factory.mktemp("killed"), url)
        dashboard.prepare()
        with (
            ThreadPoolExecutor(len(PAGES)) as clicks,
            dashboard.started() as first,
            logged_in(first) as browser,
        ):
            for page, service in services.items():
                clicks.submit(click_publish, browser, publish(page))
                assert service.arrived.wait(60)
            first.kill()
        for service in services.values():
            service.released.set()
        with dashboard.started() as second, logged_in(second) as browser:

            def tells(page: str) -> str:
                return response_text(browser.get(publish(page)))

            at_once = {page: tells(page) for page in services}
            dashboard.lets_a_minute_pass()
            return {
                page: RestartedPublish(
                    at_once=at_once[page],
                    later=tells(page),
                    record=response_text(browser.get("/activity/", params={"target": page})),
                    keys=len(service.keys),
                )
                for page, service in services.items()
            }


def test_a_publish_within_the_time_limit_is_in_progress(publishes: RestartedPublishes) -> None:
    assert all("Sending version 2" in tells.at_once for tells in publishes.values())


def test_the_service_was_called_once(publishes: RestartedPublishes) -> None:
    assert [tells.keys for tells in publishes.values()] == [1, 1]


def test_a_publish_that_went_through_is_found(publishes: RestartedPublishes) -> None:
    tells = publishes[PAGES[True]]
    assert "Publishing version 2" in tells.later
    assert "Brightwater Foods Accepted" in tells.record


def test_a_publish_that_did_not_go_through_is_unknown(publishes: RestartedPublishes) -> None:
    tells = publishes[PAGES[False]]
    assert "We don’t know if version 2 was published" in tells.later
    assert "version 2 is still draft" in tells.later
    assert "Brightwater Foods Outcome unknown" in tells.record
