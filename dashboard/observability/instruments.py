"""Prometheus counters and histograms. Imported only if METRICS_TOKEN is set.

Each worker process counts for itself. prometheus-client reads its environment when it is imported,
so with several processes that must happen in a worker, after the fork.
"""

import os
from functools import lru_cache, partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from dashboard.observability.metrics import SHARED_FOLDER

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """All metrics of this process. Labels never have names of persons, or ids."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, namespace="pressroom", registry=self.registry)
        seconds = partial(Histogram, namespace="pressroom", buckets=SECONDS, registry=self.registry)
        self.requests = counter("requests", "Requests served", ["method", "view", "status"])
        self.request_seconds = seconds("request_seconds", "Time to the response", ["view"])
        self.calls = counter(
            "service_calls",
            "Calls of the service, including retries, and calls rejected by the circuit breaker",
            ["operation", "outcome"],
        )
        self.call_seconds = seconds(
            "service_call_seconds", "Time to the service's response", ["operation"]
        )
        self.attempts = counter(
            "operations", "Finished attempts of operations", ["kind", "outcome"]
        )


@lru_cache(maxsize=1)
def get_metrics() -> Metrics:
    """Return the metrics of this process."""
    return Metrics()


def exposition(state: Collector) -> bytes:
    """Return the current state and the counts of all processes, in Prometheus' text format."""
    state_registry = CollectorRegistry()
    state_registry.register(state)
    counted = get_metrics().registry
    if SHARED_FOLDER in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return generate_latest(state_registry) + generate_latest(counted)
