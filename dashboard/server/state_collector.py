"""Metrics computed on request: operations, releases, worker, deliveries, crawl, service.

Import this module late: see prometheus-client in `dashboard.observability.metrics`.
"""

import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress

from django.db import Error, connection
from django.db.models import Count, Max
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from config.environment import project_version
from dashboard import clock
from dashboard.ledger.crawls import get_crawl
from dashboard.ledger.models import CrawlState
from dashboard.ledger.queries.operations import count_open
from dashboard.notifications.outbox import oldest_waiting
from dashboard.releases.models import Release, WorkerHeartbeat
from dashboard.service.circuit_breaker import READS, open_circuits
from dashboard.service.health import health_now


def _gauge(name: str, message: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"pressroom_{name}", message, labels=[label])
    for word, value in values.items():
        gauge.add_metric([word], value)
    return gauge


def _crawl() -> Iterator[GaugeMetricFamily]:
    """Yield the progress of the crawl, and when it last read everything. Empty without a crawl."""
    crawl = get_crawl()
    if crawl is None:
        return
    gauges: dict[str, tuple[str, float | None]] = {
        "running": ("Whether the crawl is in progress or paused", crawl.is_running),
        "failed": ("Whether the last crawl failed", crawl.state == CrawlState.FAILED),
        "pages": ("Pages that the current or last crawl has read", crawl.pages),
        "pages_listed": ("Pages that the service has, by its own count", crawl.pages_in_all),
        "problems": ("What the current or last crawl could not read", crawl.problems),
        "calls_per_second": ("The rate that it reached", crawl.calls_per_second),
        "finished_timestamp_seconds": (
            "When a crawl last read everything",
            crawl.finished_at.timestamp() if crawl.finished_at else None,
        ),
    }
    for name, (message, value) in gauges.items():
        if value is not None:
            yield GaugeMetricFamily(f"pressroom_crawl_{name}", message, value=float(value))


def _recorded() -> Iterator[GaugeMetricFamily]:
    """Yield the metrics that are read from the database."""
    now = clock.now()
    releases = dict(Release.listed.order_by().values_list("state").annotate(Count("pk")))
    yield _gauge("releases", "Releases", "state", releases)
    message = "Seconds since a worker of releases was active"
    worker_age = GaugeMetricFamily("pressroom_worker_age_seconds", message)
    if last := WorkerHeartbeat.objects.aggregate(last=Max("active_at"))["last"]:
        worker_age.add_metric([], (now - last).total_seconds())
    yield worker_age
    message = "Seconds since the oldest notification that waits for delivery was made"
    waiting_s = {
        channel: (now - created_at).total_seconds() if created_at else 0
        for channel, created_at in oldest_waiting().items()
    }
    yield _gauge("delivery_age_seconds", message, "channel", waiting_s)
    yield from _crawl()
    yield _gauge("operations_open", "Operations without an outcome yet", "outcome", count_open())


class StateCollector(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        labels = ["version", "python", "database"]
        build = GaugeMetricFamily("pressroom_build_info", "Always 1", labels=labels)
        build.add_metric([project_version(), platform.python_version(), connection.vendor], 1)
        yield build
        message = "Seconds by which this machine's clock is ahead of the database's"
        ahead_s = -clock.correction().total_seconds()
        yield GaugeMetricFamily("pressroom_clock_ahead_seconds", message, value=ahead_s)
        # If the database is unavailable, the other metrics are still returned.
        with suppress(Error):
            yield from _recorded()
        message = "Whether the circuit of an operation is open, after calls without a response"
        circuits = open_circuits()
        is_open = {operation: operation in circuits for operation in READS}
        yield _gauge("service_held_back", message, "operation", is_open)
        health = health_now()
        if health.is_responding is not None:
            message = "Whether the last call of the service got a response"
            yield GaugeMetricFamily(
                "pressroom_service_answering", message, value=health.is_responding
            )
            message = "Whether the service rejected our key in the last call"
            yield GaugeMetricFamily(
                "pressroom_service_key_refused", message, value=health.is_key_rejected
            )
