"""Calls of the service that a page makes side by side.

Only the waiting is shared out: a call's answer is read, and written to the ledger, by the
request's own thread.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from django.conf import settings
from django.db import connections

from dashboard.web.request_notes import in_this_request

T = TypeVar("T")

POOL_THREADS = 16
"""Shared by all requests of a process. Where all are busy a call waits its turn."""


def started(call: Callable[[], T]) -> Callable[[], T]:
    """Start a call now; the function returned waits for its result, or raises its error.

    A service in this same process shares the request's database connection, so it is called
    only when the result is asked for, by the thread that asks.
    """
    if settings.SERVICE_TRANSPORT:
        return call
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
