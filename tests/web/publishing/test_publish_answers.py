"""Whatever a real service does with the request, the displayed outcome is right."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from uuid import uuid4

import httpx
import pytest

from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.html import response_text, text
from tests.support.publishing_service import (
    PublishingService,
    Way,
    accepts,
    answers,
    fails,
    garbage,
    takes_another,
)

TIMEOUT_S = 5


@dataclass
class Desk:
    """A user of a dashboard process, with a service over a socket."""

    browser: httpx.Client
    service: PublishingService

    def publish(self, way: Way) -> str:
        """Publish a draft of an unused audience; return its URL."""
        self.service.__init__(way=way)  # type: ignore[misc]
        address = f"/pages/page_{uuid4().hex}/audiences/aud_1/versions/ver_2/publish/"
        page = self.browser.get(address)
        names = ("operation_key", "csrfmiddlewaretoken")
        answer = self.browser.post(address, data={name: hidden(page, name) for name in names})
        return str(answer.url)

    def page_at(self, address: str) -> str:
        return response_text(self.browser.get(address))

    def record(self, address: str) -> str:
        """Return the heading of a publish in Activity, by its URL."""
        key = address.partition("?operation=")[2]
        page = self.browser.get(f"/activity/{key}/").text
        match = re.search(r"<h1>.*?</header>", page, re.DOTALL)
        assert match, text(page)
        return text(match[0])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    service = PublishingService()
    with over_http(service) as url:
        dashboard = Dashboard(tmp_path_factory.mktemp("desk"), url, timeout_s=TIMEOUT_S)
        dashboard.prepare()
        with dashboard.started() as running, logged_in(running) as browser:
            yield Desk(browser, service)


@pytest.mark.parametrize("status", [409, 422])
def test_a_rejection_appears_beside_the_button(status: int, desk: Desk) -> None:
    address = desk.publish(answers(status, "The page is locked."))
    page = desk.page_at(address)
    assert f"Not published. The service returned {status}: The page is locked." in page
    assert "Version 2 is unchanged (draft)." in page
    assert "Publish version 2 Failed" in desk.record(address)


@pytest.mark.parametrize(
    "way",
    [answers(500), answers(200), takes_another, fails(httpx.ReadError, carried_out=False)],
    ids=["500", "garbage", "another version", "cut"],
)
def test_an_unreadable_response_without_proof_is_unknown(way: Way, desk: Desk) -> None:
    address = desk.publish(way)
    page = desk.page_at(address)
    assert "We don’t know if version 2 was published" in page
    assert "version 2 is still draft" in page
    assert "Publish version 2 Outcome unknown" in desk.record(address)


@pytest.mark.parametrize(
    "way",
    [accepts, answers(500, carried_out=True), garbage, fails(httpx.ReadError, carried_out=True)],
    ids=["accepted", "500", "garbage", "cut"],
)
def test_an_executed_publish_is_found_to_be_accepted(way: Way, desk: Desk) -> None:
    address = desk.publish(way)
    assert "Publishing version 2" in desk.page_at(address)
    assert "Publish version 2 Accepted" in desk.record(address)


def test_a_late_response_is_unknown_until_checked(desk: Desk) -> None:
    released, carried_out = Event(), Event()

    def late(service: PublishingService, request: httpx.Request) -> httpx.Response:
        released.wait(60)
        answer = accepts(service, request)
        carried_out.set()
        return answer

    address = desk.publish(late)
    assert f"didn’t respond within {TIMEOUT_S} s" in desk.page_at(address)
    assert "Publish version 2 Outcome unknown" in desk.record(address)
    released.set()
    assert carried_out.wait(60)
    assert "Publishing version 2" in desk.page_at(address)
    assert "Publish version 2 Accepted" in desk.record(address)
