"""Count requests, calls of the service and operations for Prometheus, if METRICS_TOKEN is set.

Each worker process has its own counts. prometheus-client reads its environment when it is imported.
With several processes, the import must happen in a worker after the fork, so it is late.
"""

import os
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from django.conf import settings

from dashboard.client import (
    APIError,
    CallReport,
    InvalidResponseError,
    InvalidURLError,
    NoResponseError,
    ServerError,
)

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """All metrics of this process. Labels never contain people's names or IDs."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram

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
    return Metrics()


def exposition(state: "Collector") -> bytes:
    """Return the current state and the counts of all processes in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, generate_latest

    state_registry = CollectorRegistry()
    state_registry.register(state)
    counted = get_metrics().registry
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client.multiprocess import MultiProcessCollector

        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return generate_latest(state_registry) + generate_latest(counted)


def count_request(method: str, view: str, status: int, took_s: float) -> None:
    if metrics := _metrics():
        # Clients may send any word as the method, and each would add a time series.
        verb = method if method in {"GET", "HEAD", "POST"} else "other"
        metrics.requests.labels(verb, view, status).inc()
        metrics.request_seconds.labels(view).observe(took_s)


def count_call(report: CallReport) -> None:
    if metrics := _metrics():
        metrics.calls.labels(report.operation, call_outcome(report.error)).inc()
        metrics.call_seconds.labels(report.operation).observe(report.duration_ms / 1000)


def count_held_back(operation: str) -> None:
    if metrics := _metrics():
        metrics.calls.labels(operation, "held_back").inc()


def count_attempt(kind: str, outcome: str) -> None:
    if metrics := _metrics():
        metrics.attempts.labels(kind, outcome).inc()


def _metrics() -> Metrics | None:
    return get_metrics() if settings.METRICS_TOKEN else None


def call_outcome(error: APIError | None) -> str:
    match error:
        case None:
            return "answered"
        case InvalidURLError():
            return "not_sent"
        case NoResponseError():
            return "no_answer"
        case InvalidResponseError():
            return "unreadable"
        case ServerError():
            return "failed"
    return "refused"
