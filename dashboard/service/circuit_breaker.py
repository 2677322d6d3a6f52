"""Circuit breakers, one per read operation, stored in the cache.

Processes that share a cache share the state. Updates are not atomic, so a breaker may open one
timeout late.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.cache import cache

from dashboard import clock
from dashboard.client import APIError, Call, ConnectError, InvalidURLError, NoResponseError
from dashboard.clock import recorded_after
from dashboard.observability.metrics import count_held_back

FAILURE_THRESHOLD = 3
"""Number of consecutive calls without a response that opens the circuit."""
RETRY_DELAYS_S = (5.0, 10.0, 20.0, 40.0)
"""Pauses before the probes; the last one repeats."""
SLOW_CALL_S = 5.0
"""A call in flight for longer than this counts as hanging, before its time limit passes."""


class HeldBackError(ConnectError):
    """The circuit breaker rejected the call; nothing was sent."""


@dataclass(frozen=True)
class CircuitState:
    """The circuit of one operation. Times are in seconds since the epoch."""

    failures: int = 0
    retry_at: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.failures >= FAILURE_THRESHOLD

    def remaining_s(self, now: float) -> float:
        return max(0.0, self.retry_at - now) if self.is_open else 0.0

    def after_failure(self, now: float) -> "CircuitState":
        state = replace(self, failures=self.failures + 1)
        if not state.is_open:
            return state
        pause = RETRY_DELAYS_S[min(state.failures - FAILURE_THRESHOLD, len(RETRY_DELAYS_S) - 1)]
        return replace(state, retry_at=now + pause)


def is_hanging(
    began: Iterable[float], *, last_response_at: float, now: float, time_limit_s: float
) -> bool:
    """Return whether FAILURE_THRESHOLD calls in flight have waited too long.

    A wait counts from the last response to any call: if this process itself is slow, calls wait
    long although the service responds. All times are in seconds on one clock.
    """
    limit = min(SLOW_CALL_S, time_limit_s / 2)
    waiting = sum(now - max(since, last_response_at) > limit for since in began)
    return waiting >= FAILURE_THRESHOLD


READS = (
    "List pages",
    "Get page",
    "List audiences",
    "Get audience messages",
    "List people",
    "Search people",
    "Update webhook subscription",
)
"""Operations that have a circuit. The last one is the empty update that reads a subscription."""
CACHE_S = 10 * 60

_logger = logging.getLogger("dashboard.breakers")

_started_at: dict[str, list[float]] = defaultdict(list)
"""Start times of this process's calls in flight, on the monotonic clock."""
_last_response_at: dict[str, float] = {}
"""Times of this process's last responses, on the same clock."""
_lock = Lock()


@contextmanager
def guard_call(call: Call) -> Iterator[None]:
    """Allow a call, or raise HeldBackError at once. Writes are always allowed."""
    if not call.is_read:
        yield
        return
    operation = call.operation
    state = _parse_state(cache.get(_key(operation)))
    if reason := _rejection_reason(operation, state):
        count_held_back(operation)
        _logger.warning(
            "Call rejected by the circuit breaker: %s",
            operation,
            extra={"facts": {"operation": operation}},
        )
        raise HeldBackError(f"Request not sent: {reason}")
    try:
        with _in_flight(operation):
            yield
    except InvalidURLError:
        raise  # Nothing was sent, so the service did not fail.
    except NoResponseError:
        failed = _parse_state(cache.get(_key(operation))).after_failure(clock.now().timestamp())
        cache.set(_key(operation), (failed.failures, failed.retry_at), timeout=CACHE_S)
        cache.delete(_probe_key(operation))
        raise
    except APIError:
        _record_success(operation, state)
        raise
    _record_success(operation, state)


def open_circuits() -> list[str]:
    cached = cache.get_many([_key(operation) for operation in READS])
    return [read for read in READS if _parse_state(cached.get(_key(read))).is_open]


def _rejection_reason(operation: str, state: CircuitState) -> str:
    """Return the reason to reject a call, as the end of a sentence, or ""."""
    if not state.is_open:
        with _lock:
            began = list(_started_at[operation])
        hangs = is_hanging(
            began,
            last_response_at=_last_response_at.get(operation, 0.0),
            now=time.monotonic(),
            time_limit_s=settings.SERVICE_TIMEOUT_S,
        )
        return "others are still waiting for a response." if hangs else ""
    remaining_s = state.remaining_s(clock.now().timestamp())
    # The claim expires, because a killed process never reports the result of its probe.
    probe_s = recorded_after().total_seconds()
    if not remaining_s and cache.add(_probe_key(operation), 1, timeout=probe_s):
        return ""
    when = f"in {remaining_s:.0f} s" if remaining_s >= 1 else "in a moment"
    return f"the service didn’t respond {state.failures} times in a row. Next attempt {when}."


def _record_success(operation: str, before: CircuitState) -> None:
    _last_response_at[operation] = time.monotonic()
    # The next response resets a failure recorded since `before`: no need to load the state again.
    if before.failures:
        cache.delete_many([_key(operation), _probe_key(operation)])


def _parse_state(value: Any) -> CircuitState:
    match value:
        case (int(failures), int() | float() as retry_at):
            return CircuitState(failures, retry_at)
    return CircuitState()


@contextmanager
def _in_flight(operation: str) -> Iterator[None]:
    since = time.monotonic()
    with _lock:
        _started_at[operation].append(since)
    try:
        yield
    finally:
        with _lock:
            _started_at[operation].remove(since)


def _key(operation: str) -> str:
    return f"service:line:2:{operation.replace(' ', '-')}"


def _probe_key(operation: str) -> str:
    return f"service:probe:3:{operation.replace(' ', '-')}"
