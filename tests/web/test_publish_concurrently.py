"""One form, submitted fifty times at once to two server processes, is one publish."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Event

import httpx
import pytest

from tests.dashboards import Dashboard, hidden, logged_in, over_http
from tests.postgres import own_database
from tests.processes import Running
from tests.web.html import text
from tests.web.publishing_service import PublishingService, accepts, answers

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"
SUBMISSIONS = 50


class BusyService(PublishingService):
    """Answers a publish only when most of the others have been answered by the dashboard."""

    def __init__(self) -> None:
        super().__init__(way=self.waits)
        self.most_are_answered = Event()

    def waits(self, service: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = accepts(service, request)
        assert self.most_are_answered.wait(60)
        return answer


@contextmanager
def database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        yield ""
    else:
        with own_database() as url:
            yield url


def submit_at_once(
    service: BusyService,
    servers: Sequence[Running],
    address: str,
    form: dict[str, str],
    browser: httpx.Client,
) -> list[str]:
    """Submit one form to the servers in turn, from many threads; return what each page says."""
    start = Barrier(SUBMISSIONS)
    # Cookies hold for a host, whatever its port: both servers know the session.
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    def submit(place: int) -> str:
        url = servers[place % len(servers)].url
        headers = {"Cookie": cookies, "Referer": url, "HX-Request": "true", "HX-Target": "dialogs"}
        start.wait(60)
        answer = httpx.post(f"{url}{address}", data=form, headers=headers, timeout=120)
        assert answer.status_code == 200, text(answer.text)
        return text(answer.text)

    said = []
    with ThreadPoolExecutor(SUBMISSIONS) as pool:
        for done in as_completed(pool.submit(submit, place) for place in range(SUBMISSIONS)):
            said.append(done.result())
            if len(said) == SUBMISSIONS * 4 // 5:
                service.most_are_answered.set()
    return said


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_fifty_submissions_to_two_servers_are_one_request_to_the_service(
    kind: str, tmp_path: Path
) -> None:
    service = BusyService()
    with over_http(service) as service_url, database(kind) as database_url:
        dashboard = Dashboard(tmp_path, service_url, database_url=database_url)
        dashboard.prepare()
        with dashboard.started() as one, dashboard.started() as two, logged_in(one) as browser:
            page = browser.get(ADDRESS)
            names = ("operation_key", "csrfmiddlewaretoken")
            form = {name: hidden(page, name) for name in names}
            said = submit_at_once(service, [one, two], ADDRESS, form, browser)
            record = text(browser.get("/activity/").text)
    assert service.keys == [form["operation_key"]]
    assert all("ending version 2" in page or "ublishing version 2" in page for page in said), said
    assert record.count("Publish version 2 Brightwater Foods") == 1
    assert "Brightwater Foods Done" in record


def test_fifty_clicks_on_send_again_are_one_more_request_with_the_same_key(tmp_path: Path) -> None:
    service = BusyService()
    with over_http(service) as service_url, own_database() as database_url:
        dashboard = Dashboard(tmp_path, service_url, database_url=database_url)
        dashboard.prepare()
        with dashboard.started() as one, dashboard.started() as two, logged_in(one) as browser:
            page = browser.get(ADDRESS)
            names = ("operation_key", "csrfmiddlewaretoken")
            form = {name: hidden(page, name) for name in names}
            service.way = answers(500)
            assert "We don’t know" in text(browser.post(ADDRESS, data=form).text)
            service.way = service.waits
            again = f"/activity/{form['operation_key']}/send-again/"
            submit_at_once(service, [one, two], again, form | {"from": "publish"}, browser)
            record = text(browser.get(again.replace("send-again/", "")).text)
    assert service.keys == [form["operation_key"]] * 2
    assert "in 2 attempts" in record
    assert "Publish version 2 Done" in record
