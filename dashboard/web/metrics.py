"""What is counted, where METRICS_TOKEN is set: requests, calls of the service, operations.

The instruments are imported late, for the reason they give.
"""

from django.conf import settings

from dashboard.client import (
    APIError,
    BadAnswerError,
    CallReport,
    NoAnswerError,
    ServiceFaultError,
)


def count_request(method: str, view: str, status: int, took_s: float) -> None:
    """Count a request that was answered, by the name of its address."""
    if not settings.METRICS_TOKEN:
        return
    from dashboard.web.instruments import instruments

    # Any word can be sent for a method, and each would be a series of its own.
    known = method if method in {"GET", "HEAD", "POST"} else "other"
    instruments().requests.labels(known, view, status).inc()
    instruments().request_seconds.labels(view).observe(took_s)


def count_call(report: CallReport) -> None:
    """Count a call of the service, its retries included."""
    if not settings.METRICS_TOKEN:
        return
    from dashboard.web.instruments import instruments

    instruments().calls.labels(report.operation, call_outcome(report.error)).inc()
    instruments().call_seconds.labels(report.operation).observe(report.duration_ms / 1000)


def count_held_back(operation: str) -> None:
    """Count a call that was not made, as nobody would have answered."""
    if not settings.METRICS_TOKEN:
        return
    from dashboard.web.instruments import instruments

    instruments().calls.labels(operation, "held_back").inc()


def count_attempt(kind: str, outcome: str) -> None:
    """Count an attempt at an operation that ended."""
    if not settings.METRICS_TOKEN:
        return
    from dashboard.web.instruments import instruments

    instruments().attempts.labels(kind, outcome).inc()


def call_outcome(error: APIError | None) -> str:
    """Return how a call ended, in one word."""
    match error:
        case None:
            return "answered"
        case NoAnswerError():
            return "no_answer"
        case BadAnswerError():
            return "unreadable"
        case ServiceFaultError():
            return "failed"
    return "refused"
