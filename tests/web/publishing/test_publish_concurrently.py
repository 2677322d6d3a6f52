"""One form that is submitted many times at once to two servers is one publish or one release.

The run's seed chooses the database; `--exhaustive` takes both.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event
from uuid import uuid4

import httpx
import pytest

from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.html import response_text
from tests.support.matrix import sampled
from tests.support.postgres import own_database
from tests.support.processes import NO_TLS, Running
from tests.support.publishing_service import PublishingService, accepts, answers

SUBMISSIONS = 50
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
IN_A_DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}


class BusyService(PublishingService):
    """Responds to a publish only after the dashboard has responded to most others."""

    def __init__(self) -> None:
        super().__init__(way=self.waits)
        self.most_are_answered = Event()

    def waits(self, service: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = accepts(service, request)
        assert self.most_are_answered.wait(60)
        return answer


@dataclass
class Office:
    """Two servers on one database, a user's browser, and the service."""

    servers: Sequence[Running]
    browser: httpx.Client
    service: BusyService

    def opens(self, address: str) -> dict[str, str]:
        """Return the form at a URL, filled in."""
        page = self.browser.get(address)
        return {name: hidden(page, name) for name in ("operation_key", "csrfmiddlewaretoken")}

    def submits_at_once(
        self, address: str, *forms: dict[str, str], count: int = SUBMISSIONS
    ) -> list[str]:
        """Submit the forms in turn from many threads to both servers; return the responses."""
        start = Barrier(count)
        # Cookies apply to a host regardless of the port, and both servers know the session.
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())

        def submit(place: int) -> str:
            url = self.servers[place % len(self.servers)].url
            headers = {"Cookie": cookies, "Referer": url} | IN_A_DIALOG
            with httpx.Client(headers=headers, timeout=120, verify=NO_TLS) as client:
                start.wait(60)
                answer = client.post(f"{url}{address}", data=forms[place % len(forms)])
            assert answer.status_code in (200, 302, 422), response_text(answer)
            return response_text(answer)

        texts = []
        with ThreadPoolExecutor(count) as pool:
            for done in as_completed(pool.submit(submit, place) for place in range(count)):
                texts.append(done.result())
                if len(texts) == count * 4 // 5:
                    self.service.most_are_answered.set()
        return texts


@contextmanager
def database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        yield ""
    else:
        with own_database() as url:
            yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on one of the databases, or with `--exhaustive` on both."""
    databases = sampled(["postgresql", "sqlite"], metafunc.config, turn=0, of=2)
    metafunc.parametrize("offices", databases, indirect=True)


@pytest.fixture(scope="module")
def offices(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Office]:
    """An office with a database of that kind."""
    service = BusyService()
    with over_http(service) as service_url, database(request.param) as database_url:
        folder = tmp_path_factory.mktemp(request.param)
        dashboard = Dashboard(folder, service_url, database_url=database_url, timeout_s=60)
        dashboard.prepare()
        with dashboard.started() as item, dashboard.started() as two, logged_in(item) as browser:
            yield Office([item, two], browser, service)


@pytest.fixture
def office(offices: Office) -> Office:
    """The same, with a new service."""
    offices.service.__init__()  # type: ignore[misc]
    return offices


@pytest.fixture
def page_id() -> str:
    """A page that no other test uses."""
    return f"page_{uuid4().hex}"


def publish(page_id: str) -> str:
    """Return the URL that publishes a version of the page."""
    return f"/pages/{page_id}/audiences/aud_1/versions/ver_2/publish/"


def test_fifty_submissions_to_two_servers_are_one_request(office: Office, page_id: str) -> None:
    form = office.opens(publish(page_id))
    texts = office.submits_at_once(publish(page_id), form)
    record = response_text(office.browser.get("/activity/", params={"target": page_id}))
    assert office.service.keys == [form["operation_key"]]
    assert all("ending version 2" in page or "ublishing version 2" in page for page in texts), texts
    assert record.count("Publish version 2 Brightwater Foods") == 1
    assert "Brightwater Foods Accepted" in record


def test_fifty_retries_are_one_request(office: Office, page_id: str) -> None:
    form = office.opens(publish(page_id))
    office.service.way = answers(500)
    assert "We don’t know" in response_text(office.browser.post(publish(page_id), data=form))
    office.service.way = office.service.waits
    again = f"/activity/{form['operation_key']}/send-again/"
    office.submits_at_once(again, form | {"from": "publish"})
    record = response_text(office.browser.get(again.replace("send-again/", "")))
    assert office.service.keys == [form["operation_key"]] * 2
    assert "in 2 attempts" in record
    assert "Publish version 2 Accepted" in record


def schedule_form(office: Office, page_id: str, time: str = "09:00") -> dict[str, str]:
    """Return the form at the publish URL of a page, filled in for tomorrow."""
    digest = hidden(office.browser.get(publish(page_id)), "shown")
    choice = {"when": "schedule", "date": TOMORROW, "time": time, "zone": "UTC"}
    return office.opens(publish(page_id)) | {"shown": digest} | choice


def test_two_concurrent_times_make_one_schedule(office: Office, page_id: str) -> None:
    form = schedule_form(office, page_id)
    forms = [form, form | {"time": "15:00"}, form]
    texts = office.submits_at_once(f"{publish(page_id)}schedule/", *forms, count=12)
    created = sum("Version 2 is scheduled" in page for page in texts)
    refused = sum("of this audience is already scheduled in the release" in page for page in texts)
    assert (created, refused) in ((8, 4), (4, 8)), texts
    assert response_text(office.browser.get(publish(page_id))).count("is scheduled for") == 1


def test_one_of_twelve_concurrent_schedule_changes_wins(office: Office, page_id: str) -> None:
    scheduled = office.browser.post(
        f"{publish(page_id)}schedule/", data=schedule_form(office, page_id)
    )
    [release] = set(re.findall(r"/releases/\d+/", scheduled.text))
    page = office.browser.get(f"{release}schedule/")
    names = ("csrfmiddlewaretoken", "shown", "due")
    form = {name: hidden(page, name) for name in names} | {"date": TOMORROW, "zone": "UTC"}
    forms = [form | {"time": f"{hour}:00"} for hour in range(10, 22)]
    texts = office.submits_at_once(f"{release}schedule/", *forms, count=len(forms))
    refused = sum("The schedule was changed since you opened this page." in page for page in texts)
    assert refused == len(forms) - 1, texts
