"""Count requests, calls of the service and operations, if METRICS_TOKEN is set.

`instruments` is imported late, for the reason given there.
"""

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
    from dashboard.observability.instruments import Metrics

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which processes share their counts."""


def count_request(method: str, view: str, status: int, took_s: float) -> None:
    """Count a response, by the name of its view."""
    if metrics := _metrics():
        # Clients may send any word as method, and each would make a new series.
        known = method if method in {"GET", "HEAD", "POST"} else "other"
        metrics.requests.labels(known, view, status).inc()
        metrics.request_seconds.labels(view).observe(took_s)


def count_call(report: CallReport) -> None:
    """Count a call of the service, its retries included."""
    if metrics := _metrics():
        metrics.calls.labels(report.operation, call_outcome(report.error)).inc()
        metrics.call_seconds.labels(report.operation).observe(report.duration_ms / 1000)


def count_held_back(operation: str) -> None:
    """Count a call that the circuit breaker rejected."""
    if metrics := _metrics():
        metrics.calls.labels(operation, "held_back").inc()


def count_attempt(kind: str, outcome: str) -> None:
    """Count a finished attempt of an operation."""
    if metrics := _metrics():
        metrics.attempts.labels(kind, outcome).inc()


def _metrics() -> "Metrics | None":
    if not settings.METRICS_TOKEN:
        return None
    from dashboard.observability.instruments import get_metrics

    return get_metrics()


def call_outcome(error: APIError | None) -> str:
    """Return the outcome of a call, in one word."""
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
