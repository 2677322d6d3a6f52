"""Two dashboards on one PostgreSQL and one Redis, behind a load balancer, act as one."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.dashboards import hidden
from tests.support.html import response_text
from tests.support.several_machines import Pair, two_machines

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"
LOGIN = "/accounts/login/"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with two_machines(tmp_path_factory.mktemp("machines")) as pair:
        yield pair


def log_in(browser: httpx.Client, password: str = "root") -> httpx.Response:
    token = hidden(browser.get(LOGIN), "csrfmiddlewaretoken")
    form = {"username": "root", "password": password, "csrfmiddlewaretoken": token}
    return browser.post(f"{LOGIN}?next=/activity/", data=form)


def test_a_publish_goes_live_through_both(pair: Pair) -> None:
    with pair.browser() as browser:
        assert "Sign out" in log_in(browser).text
        page = browser.get(ADDRESS)
        names = ("operation_key", "csrfmiddlewaretoken")
        answer = browser.post(ADDRESS, data={name: hidden(page, name) for name in names})
        assert "Publishing version 2" in response_text(answer)
        pair.service.moves_on("published")
        progress = [response_text(browser.get(str(answer.url))) for _ in range(4)]
        records = [response_text(browser.get("/activity/")).count("Live") for _ in range(4)]
    assert len(pair.service.keys) == 1
    assert ["Version 2 is live" in page for page in progress] == [True] * 4
    assert len(set(records)) == 1
    served = [
        {line["person"] for line in log if "person" in line}
        for log in pair.lines("dashboard.requests")
    ]
    assert served == [{"root"}, {"root"}]


def test_a_person_who_signs_out_is_out_on_both(pair: Pair) -> None:
    with pair.browser() as browser:
        token = hidden(log_in(browser), "csrfmiddlewaretoken")
        cookies = dict(browser.cookies)
        browser.post("/accounts/logout/", data={"csrfmiddlewaretoken": token})
        browser.cookies.update(cookies)
        landed = {browser.get("/activity/").url.path for _ in range(4)}
    assert landed == {LOGIN}


def test_what_one_learns_of_the_service_the_other_knows(pair: Pair) -> None:
    first, two = pair.machines
    with httpx.Client(base_url=first.url, follow_redirects=True, timeout=60) as browser:
        browser.headers["Referer"] = first.url
        log_in(browser)
        assert browser.get("/pages/page_1/").status_code == 200
    assert httpx.get(f"{two.url}/health/ready", timeout=60).json() == {
        "ready": True,
        "checks": {"database": "ok", "migrations": "ok", "cache": "ok"},
        "service": "operational",
        "clock": "ok",
        "worker": "not needed",
    }


def test_wrong_passwords_are_counted_together(pair: Pair) -> None:
    with pair.browser() as browser:
        message = [response_text(log_in(browser, "wrong")) for _ in range(5)]
    assert ["5 attempts left before sign-in is paused" in page for page in message] == [
        False
    ] * 4 + [True]
