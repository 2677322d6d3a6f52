"""Run calls of the service concurrently.

Only the calls run in other threads: the request's own thread processes and records the responses.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from threading import BoundedSemaphore
from typing import Protocol, TypeVar

from django.conf import settings
from django.db import connections

from dashboard.client import ConnectError, deadline_counted_from
from dashboard.observability.request_context import bind_request_context

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_THREADS = 16
"""Shared by all requests of a process; further calls are queued."""
MAX_QUEUED_CALLS = 48
"""If the queue is full, the request's own thread makes the call when it needs the result."""
_places = BoundedSemaphore(MAX_THREADS + MAX_QUEUED_CALLS)


class Result(Protocol[T_co]):
    """Waits for the result of a call, or raises its error."""

    def __call__(self, timeout: float | None = None) -> T_co:
        """Raises TimeoutError after `timeout` seconds; the call continues."""


def run_concurrently(call: Callable[[], T]) -> Result[T]:
    """Start a call in another thread, and return a function that waits for its result.

    A service in this same process shares the request's database connection, so it is called
    by the request's thread when the result is needed.
    """
    if settings.SERVICE_TRANSPORT:
        return lambda timeout=None: call()
    in_time = partial(_call_in_time, bind_request_context(call), time.monotonic())
    if not _places.acquire(blocking=False):
        return partial(_call_now, in_time)
    future = _threads().submit(_closing_connections, in_time)
    future.add_done_callback(lambda _: _places.release())
    return future.result


def shut_down() -> None:
    """Wait for all calls in flight."""
    if _threads.cache_info().currsize:
        _threads().shutdown()
        _threads.cache_clear()


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    # Made on first use: each worker needs its own threads after the fork.
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="call")


def _call_now(call: Callable[[], T], timeout: float | None = None) -> T:
    if timeout is not None:
        raise TimeoutError
    return call()


def _call_in_time(call: Callable[[], T], submitted_at: float) -> T:
    """Make a call with a time limit that counts from `submitted_at`, not from when it starts."""
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
