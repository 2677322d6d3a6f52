"""Prometheus' counters and histograms. Loaded only where METRICS_TOKEN turns them on.

Each worker process counts for itself. prometheus-client looks at its environment when it is
loaded, so in a server of several processes that happens in a worker, never before the fork.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from django.db import Error
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from dashboard.ledger.queries.operations import count_open
from dashboard.web.breakers import READS, broken_lines
from dashboard.web.server_hooks import SHARED_FOLDER
from dashboard.web.service_health import health_now

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Instruments:
    """Everything counted in this process. Labels hold names of ours, never a person's or an id."""

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests answered", "method", "view", "status")
        self.request_seconds = self._seconds("request_seconds", "Time to the answer", "view")
        self.calls = self._counter(
            "service_calls",
            "Calls of the service, retries included, and those held back",
            "operation",
            "outcome",
        )
        self.call_seconds = self._seconds(
            "service_call_seconds", "Time to the service's answer", "operation"
        )
        self.attempts = self._counter(
            "operations", "Attempts at operations that ended", "kind", "outcome"
        )

    def _counter(self, name: str, said: str, *labels: str) -> Counter:
        return Counter(f"pressroom_{name}", said, labels, registry=self.registry)

    def _seconds(self, name: str, said: str, label: str) -> Histogram:
        name = f"pressroom_{name}"
        return Histogram(name, said, [label], buckets=SECONDS, registry=self.registry)


@lru_cache(maxsize=1)
def instruments() -> Instruments:
    """Return those of this process."""
    return Instruments()


def exposition() -> bytes:
    """Return all counts, of every process that shares them, in Prometheus' text format."""
    read_now = CollectorRegistry()
    read_now.register(_Now())
    counted = instruments().registry
    if SHARED_FOLDER in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return generate_latest(read_now) + generate_latest(counted)


class _Now(Collector):
    """What is not counted but read when somebody asks."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return operations without an outcome yet, and how the service does."""
        # Without a database nobody knows the first; the rest is wanted most of all then.
        with suppress(Error):
            yield _open_operations()
        yield _held_back()
        is_answering = health_now().is_answering
        if is_answering is not None:
            said = "Whether the last call of the service was answered"
            yield GaugeMetricFamily("pressroom_service_answering", said, value=is_answering)


def _open_operations() -> GaugeMetricFamily:
    """Raises django.db.Error without a database."""
    said = "Operations without an outcome yet"
    gauge = GaugeMetricFamily("pressroom_operations_open", said, labels=["outcome"])
    for outcome, count in count_open().items():
        gauge.add_metric([outcome], count)
    return gauge


def _held_back() -> GaugeMetricFamily:
    said = "Whether an operation is left alone, as nobody answered"
    gauge = GaugeMetricFamily("pressroom_service_held_back", said, labels=["operation"])
    broken = broken_lines()
    for operation in READS:
        gauge.add_metric([operation], operation in broken)
    return gauge
