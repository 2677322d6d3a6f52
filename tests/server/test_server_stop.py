"""A server that gets SIGTERM finishes its responses and accepts no new connections."""

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx

from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.html import response_text
from tests.support.processes import NO_TLS, Running, commands_with, is_alive
from tests.support.publishing_service import PublishingService, accepts

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"
TOKEN = "a-token-of-the-tests"


class SlowService(PublishingService):
    """Responds to a publish only when the test lets it."""

    def __init__(self) -> None:
        super().__init__(way=self.holds)
        self.arrived, self.released = Event(), Event()

    def holds(self, service: PublishingService, request: httpx.Request) -> httpx.Response:
        self.arrived.set()
        assert self.released.wait(60)
        return accepts(service, request)


def refuses_connections(dashboard: Running) -> bool:
    """Return whether new connections are refused within a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            httpx.get(f"{dashboard.url}/health/live", timeout=0.2, verify=NO_TLS)
        except httpx.ConnectError:
            return True
        except httpx.TransportError:
            continue
    return False


def publish_while_it_stops(
    running: Running, browser: httpx.Client, service: SlowService, how: signal.Signals
) -> httpx.Response:
    """Stop a server while it waits for the response to a publish; return its own response."""
    page = browser.get(ADDRESS)
    form = {name: hidden(page, name) for name in ("operation_key", "csrfmiddlewaretoken")}
    with ThreadPoolExecutor(1) as aside:
        click = aside.submit(browser.post, ADDRESS, data=form, follow_redirects=False)
        assert service.arrived.wait(60)
        running.process.send_signal(how)
        assert refuses_connections(running)
        service.released.set()
        answer = click.result(60)
    assert running.process.wait(60) == 0
    return answer


def assert_published_once(
    answer: httpx.Response, dashboard: Dashboard, service: SlowService
) -> None:
    assert answer.status_code == 302, response_text(answer)
    assert dashboard.outcomes() == ["accepted"]
    assert len(service.keys) == 1


def test_a_publish_finishes_before_the_server_stops(tmp_path: Path) -> None:
    """Stops with Ctrl+C; the next test uses SIGTERM."""
    service = SlowService()
    with over_http(service) as service_url:
        dashboard = Dashboard(tmp_path, service_url)
        dashboard.prepare()
        with dashboard.started(has_worker=True) as running, logged_in(running) as browser:
            assert len(commands_with(f"--parent={running.process.pid}")) == 1
            while not dashboard.workers():
                browser.get("/health/live")
            [worker] = dashboard.workers()
            answer = publish_while_it_stops(running, browser, service, signal.SIGINT)
            assert not is_alive(worker)
            assert dashboard.workers() == [], "a worker that ends takes its heartbeat with it"
    assert_published_once(answer, dashboard, service)


def test_two_processes_are_counted_and_stop_together(tmp_path: Path) -> None:
    service = SlowService()
    with over_http(service) as service_url:
        dashboard = Dashboard(tmp_path, service_url)
        dashboard.env["METRICS_TOKEN"] = TOKEN
        dashboard.prepare()
        with dashboard.started(processes=2) as running, logged_in(running) as browser:
            for _ in range(20):
                httpx.get(f"{running.url}/accounts/login/", timeout=60, verify=NO_TLS)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            metrics = f"{running.url}/metrics"
            with httpx.Client(headers=headers, timeout=60, verify=NO_TLS) as reader:
                message = {reader.get(metrics).text for _ in range(8)}
            answer = publish_while_it_stops(running, browser, service, signal.SIGTERM)
        lines = running.log.read_text().splitlines()
    assert_published_once(answer, dashboard, service)
    name = 'pressroom_requests_total{method="GET",status="200",view="login"} '
    counts = {line for page in message for line in page.splitlines() if line.startswith(name)}
    assert counts == {f"{name}21.0"}
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    assert {line["view"] for line in logged if line["logger"] == "dashboard.requests"} > {"login"}
    assert [line for line in lines if line[:1] not in "{P"] == []
