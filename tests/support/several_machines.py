"""Two dashboards on one PostgreSQL and one Redis, behind a load balancer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.dashboards import Dashboard, over_http
from tests.support.load_balancer import balanced
from tests.support.postgres import own_database
from tests.support.processes import Running
from tests.support.publishing_service import PublishingService
from tests.support.redis import own_cache


@dataclass
class Pair:
    """Two dashboards behind a load balancer."""

    url: str
    machines: list[Running]
    service: PublishingService

    def browser(self) -> httpx.Client:
        """Return an HTTP client whose requests alternate between the machines."""
        return httpx.Client(
            base_url=self.url,
            headers={"Referer": f"{self.url}/"},
            follow_redirects=True,
            timeout=60,
        )

    def lines(self, logger: str) -> list[list[dict[str, object]]]:
        """Return the log lines of that logger for each machine."""
        logs = [machine.log.read_text().splitlines() for machine in self.machines]
        parsed = [[json.loads(line) for line in log if line.startswith("{")] for log in logs]
        return [[line for line in log if line["logger"] == logger] for log in parsed]


@contextmanager
def two_machines(folder: Path) -> Iterator[Pair]:
    """Run both dashboards until the block ends."""
    service = PublishingService()
    with own_database() as database, own_cache() as cache, over_http(service) as service_url:
        dashboard = Dashboard(folder, service_url, database_url=database, cache_url=cache)
        dashboard.prepare()
        with dashboard.started() as item, dashboard.started() as two:
            ports = [urlsplit(machine.url).port or 0 for machine in (item, two)]
            with balanced(*ports) as url:
                yield Pair(url, [item, two], service)
