"""Metrics computed on request: operations, releases, worker, deliveries, crawl, service.

Imported late, as `dashboard.observability.instruments` is.
"""

import platform
from collections.abc import Iterator
from contextlib import suppress

from django.db import Error, connection
from django.db.models import Count, Max
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from config.environment import project_version
from dashboard.ledger.crawls import get_crawl
from dashboard.ledger.models import CrawlState
from dashboard.ledger.queries.operations import count_open
from dashboard.notifications.delivery_log import oldest_waiting
from dashboard.releases.models import Release, WorkerHeartbeat
from dashboard.service.circuit_breaker import READS, open_circuits
from dashboard.service.health import health_now


def _releases() -> Iterator[GaugeMetricFamily]:
    """Yield the releases by state, and how long ago a worker was active, if one was."""
    gauge = GaugeMetricFamily("pressroom_releases", "Releases", labels=["state"])
    counts = Release.listed.order_by().values_list("state").annotate(Count("pk"))
    for state, count in counts:
        gauge.add_metric([state], count)
    yield gauge
    last = WorkerHeartbeat.objects.aggregate(last=Max("active_at"))["last"]
    message = "Seconds since a worker of releases was active"
    gauge = GaugeMetricFamily("pressroom_worker_age_seconds", message)
    if last:
        gauge.add_metric([], (timezone.now() - last).total_seconds())
    yield gauge


def _deliveries() -> Iterator[GaugeMetricFamily]:
    """Yield for how long the oldest message that wasn't delivered has waited, by channel."""
    message = "Seconds since the oldest notification that waits for delivery was made"
    gauge = GaugeMetricFamily("pressroom_delivery_age_seconds", message, labels=["channel"])
    now, oldest = timezone.now(), oldest_waiting()
    for channel, created_at in oldest.items():
        gauge.add_metric([channel], (now - created_at).total_seconds() if created_at else 0)
    yield gauge


def _crawl() -> Iterator[GaugeMetricFamily]:
    """Yield how far the crawl is, and when it last read everything; nothing before the first."""
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


def _build() -> GaugeMetricFamily:
    """Return the version of this release, and what it runs on."""
    labels = ["version", "python", "database"]
    gauge = GaugeMetricFamily("pressroom_build_info", "Always 1", labels=labels)
    gauge.add_metric([project_version(), platform.python_version(), connection.vendor], 1)
    return gauge


class StateCollector(Collector):
    """Collects the current state."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield open operations, releases, the crawl, open circuits, the health of the service."""
        yield _build()
        # Without a database, only what is in it is missing.
        with suppress(Error):
            yield from _releases()
            yield from _deliveries()
            yield from _crawl()
            message = "Operations without an outcome yet"
            gauge = GaugeMetricFamily("pressroom_operations_open", message, labels=["outcome"])
            for outcome, count in count_open().items():
                gauge.add_metric([outcome], count)
            yield gauge
        message = "Whether the circuit of an operation is open, after calls without a response"
        gauge = GaugeMetricFamily("pressroom_service_held_back", message, labels=["operation"])
        broken = open_circuits()
        for operation in READS:
            gauge.add_metric([operation], operation in broken)
        yield gauge
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
