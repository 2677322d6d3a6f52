"""Calls of the service that a page makes side by side.

Only the waiting is shared out: a call's answer is read, and written to the ledger, by the
request's own thread.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Protocol, TypeVar

from django.conf import settings
from django.db import connections

from dashboard.web.request_notes import in_this_request

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

POOL_THREADS = 16
"""Shared by all requests of a process. Where all are busy a call waits its turn."""


class Result(Protocol[T_co]):
    """Waits for what a call returns, or raises its error."""

    def __call__(self, timeout: float | None = None) -> T_co:
        """Raises TimeoutError where it takes longer than so many seconds; the call goes on."""


def started(call: Callable[[], T]) -> Result[T]:
    """Start a call now, and return what waits for its result.

    A service in this same process shares the request's database connection, so it is called
    only when the result is asked for, by the thread that asks.
    """
    if settings.SERVICE_TRANSPORT:
        return lambda timeout=None: call()
    return _pool().submit(_closing_connections, in_this_request(call)).result


def finish() -> None:
    """Wait for the calls that are still under way, whether or not anybody waits for them."""
    _pool().shutdown()
    _pool.cache_clear()


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    # Made on first use, so that each worker has threads of its own after a fork.
    return ThreadPoolExecutor(POOL_THREADS, thread_name_prefix="call")


def _closing_connections(call: Callable[[], T]) -> T:
    # A thread of the pool outlives the request: it must not keep what a call may have opened.
    try:
        return call()
    finally:
        connections.close_all()
