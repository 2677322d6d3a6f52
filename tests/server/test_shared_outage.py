"""All processes share an outage: what one notices is on the pages of all."""

from pathlib import Path

import httpx

from tests.support import wire
from tests.support.dashboards import logged_in, over_http
from tests.support.worker_processes import WorkerDashboard


class Service:
    """A service that is down until the test brings it up."""

    is_away = True

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("away", request=request)
        return httpx.Response(200, json=wire.envelope())


def test_what_a_worker_notices_is_on_the_pages_of_every_process(tmp_path: Path) -> None:
    service = Service()
    with over_http(service) as url:
        dashboard = WorkerDashboard(tmp_path, url)
        dashboard.prepare()
        with (
            dashboard.started(processes=2, has_worker=True) as server,
            logged_in(server) as browser,
        ):

            def banners() -> set[bool]:
                # This page doesn't call the service.
                return {'id="outage"' in browser.get("/releases/").text for _ in range(8)}

            dashboard.wait_until(lambda: banners() == {True})
            service.is_away = False
            browser.get("/people/")
            dashboard.wait_until(lambda: banners() == {False})
            entries = "SELECT count(*) FROM ledger_feedentry WHERE kind = 'service'"
            assert dashboard.execute(entries) == [(2,)]
