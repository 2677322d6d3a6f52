"""The client of the service, one per process, and calls that run concurrently.

Only the calls run in other threads: the request's own thread processes and records the responses.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from threading import BoundedSemaphore, RLock
from typing import Protocol, TypeVar

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from dashboard.client import Call, CallReport, ConnectError, PublishingClient, deadline_counted_from
from dashboard.observability.metrics import count_call
from dashboard.observability.request_context import bind_request_context
from dashboard.observability.tracing import call_span, correlation_headers, describe_call_span
from dashboard.service.circuit_breaker import guard_call
from dashboard.service.conformance import collect_deviations
from dashboard.service.health import record_call, record_clock

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_THREADS = 16
"""Threads that all requests of a process share; further calls are queued."""
MAX_QUEUED_CALLS = 48
"""If the queue is full, the request's own thread makes the call when it needs the result."""
_places = BoundedSemaphore(MAX_THREADS + MAX_QUEUED_CALLS)

_lock = RLock()

_reports: ContextVar[list[CallReport] | None] = ContextVar("listening", default=None)
_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)


def publishing_client() -> PublishingClient:
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
    if _threads.cache_info().currsize:
        _threads().shutdown()  # Waits for all calls in flight.
        _threads.cache_clear()
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
def reads_only() -> Iterator[None]:
    """Allow only reads in this thread: any other call raises RuntimeError before it is sent."""
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)


@contextmanager
def _guard(call: Call) -> Iterator[None]:
    if _is_reading.get() and not call.is_read:
        raise RuntimeError(f"{call.operation} within reads_only: nothing was sent.")
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


class Result(Protocol[T_co]):
    """Waits for a call, then returns its result or raises its error."""

    def __call__(self, timeout: float | None = None) -> T_co:
        """Raises TimeoutError after `timeout` seconds; the call continues."""


def run_concurrently(call: Callable[[], T]) -> Result[T]:
    """Start a call in another thread, and return a function that waits for its result.

    A service in this process shares the request's database connection, so the request's own
    thread calls it when the result is needed.
    """
    if settings.SERVICE_TRANSPORT:
        return lambda timeout=None: call()
    in_time = partial(_call_in_time, bind_request_context(call), time.monotonic())
    if not _places.acquire(blocking=False):
        return partial(_call_now, in_time)
    future = _threads().submit(_closing_connections, in_time)
    future.add_done_callback(lambda _: _places.release())
    return future.result


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    # Made on first use: each worker needs its own threads after the fork.
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="call")


def _call_now(call: Callable[[], T], timeout: float | None = None) -> T:
    if timeout is not None:
        raise TimeoutError
    return call()


def _call_in_time(call: Callable[[], T], submitted_at: float) -> T:
    """Make a call whose time limit counts from `submitted_at`, not from its start.

    Raises ConnectError if the limit has already passed.
    """
    if time.monotonic() - submitted_at >= settings.SERVICE_TIMEOUT_S:
        limit = f"{settings.SERVICE_TIMEOUT_S:g} s"
        raise ConnectError(f"Request not sent: it waited {limit} in the queue.")
    with deadline_counted_from(submitted_at):
        return call()


def _closing_connections(call: Callable[[], T]) -> T:
    # A pool thread outlives the request: it must not keep a connection open.
    try:
        return call()
    finally:
        connections.close_all()
