"""A dashboard killed in the middle of a publish finds the truth after it starts again."""

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from tests.dashboards import Dashboard, hidden, logged_in, over_http
from tests.web.html import text
from tests.web.publishing_service import PublishingService, answers

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"


def click_publish(browser: httpx.Client) -> None:
    page = browser.get(ADDRESS)
    names = ("operation_key", "csrfmiddlewaretoken")
    # The process goes, and the connection with it.
    with suppress(httpx.TransportError):
        browser.post(ADDRESS, data={name: hidden(page, name) for name in names})


@pytest.mark.parametrize("is_carried_out", [True, False])
def test_a_dashboard_killed_while_it_publishes_finds_the_truth(
    is_carried_out: bool, tmp_path: Path
) -> None:
    arrived, released = Event(), Event()

    def holds(service: PublishingService, request: httpx.Request) -> httpx.Response:
        answer = answers(200, carried_out=is_carried_out)(service, request)
        arrived.set()
        released.wait(60)
        return answer

    service = PublishingService(way=holds)
    with over_http(service) as service_url:
        dashboard = Dashboard(tmp_path, service_url)
        dashboard.prepare()
        with dashboard.started() as first, logged_in(first) as browser:
            click = Thread(target=click_publish, args=[browser])
            click.start()
            assert arrived.wait(60)
            first.kill()
            click.join(60)
        released.set()
        with dashboard.started() as second, logged_in(second) as browser:
            assert "Sending version 2" in text(browser.get(ADDRESS).text)
            dashboard.lets_a_minute_pass()
            page = text(browser.get(ADDRESS).text)
            record = text(browser.get("/activity/").text)
    assert len(service.keys) == 1
    if is_carried_out:
        assert "Publishing version 2" in page
        assert "Brightwater Foods Done" in record
    else:
        assert "We don’t know if version 2 was published" in page
        assert "version 2 is still draft" in page
        assert "Brightwater Foods Outcome unknown" in record
