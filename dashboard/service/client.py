"""The client of the service, one per process."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import RLock

from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.client import Call, CallReport, PublishingClient
from dashboard.observability.metrics import count_call
from dashboard.observability.tracing import call_span, correlation_headers, describe_call_span
from dashboard.service import concurrency
from dashboard.service.circuit_breaker import guard_call
from dashboard.service.clock import record_clock
from dashboard.service.conformance import collect_deviations
from dashboard.service.health import record_call

_lock = RLock()

_reports: ContextVar[list[CallReport] | None] = ContextVar("listening", default=None)


def publishing_client() -> PublishingClient:
    """Return this process's client, made from the settings."""
    # Without the lock, two concurrent first calls would each make a client.
    with _lock:
        return _create_client(
            settings.SERVICE_URL,
            settings.SERVICE_API_KEY,
            settings.SERVICE_TIMEOUT_S,
            settings.SERVICE_TRANSPORT,
        )


def close_publishing_client() -> None:
    """Close this process's client once its calls have ended; the next call makes a new one."""
    concurrency.shut_down()
    with _lock:
        if _create_client.cache_info().currsize:
            publishing_client().close()
            _create_client.cache_clear()


@contextmanager
def capture_call_reports() -> Iterator[list[CallReport]]:
    """Collect the reports of the calls that this thread makes in the block, in order."""
    reports: list[CallReport] = []
    token = _reports.set(reports)
    try:
        yield reports
    finally:
        _reports.reset(token)


@contextmanager
def _guard(call: Call) -> Iterator[None]:
    with guard_call(call), call_span(call):
        yield


def _on_call(report: CallReport) -> None:
    if (reports := _reports.get()) is not None:
        reports.append(report)
    count_call(report)
    describe_call_span(report)
    collect_deviations(report)
    record_call(report)
    record_clock(report)


@lru_cache(maxsize=1)
def _create_client(
    url: str | None, api_key: str | None, timeout_s: float, transport_path: str | None
) -> PublishingClient:
    # Made on first use: each worker needs its own connections after the fork.
    transport = None
    if transport_path:
        url, api_key, transport = import_string(transport_path).for_dashboard()
    return PublishingClient(
        base_url=url or "",
        api_key=api_key or "",
        timeout_s=timeout_s,
        transport=transport,
        on_call=_on_call,
        extra_headers=correlation_headers,
        guard=_guard,
    )
