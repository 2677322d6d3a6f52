"""The breakers of this dashboard: one for each operation that reads, kept in the cache.

Where processes share a cache they share what they learnt. A tally may be lost between two of them;
then a breaker opens one silence later. Without a cache nothing is held back.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.conf import settings
from django.core.cache import cache

from dashboard.client import APIError, Call, NoAnswerError, NotReachedError
from dashboard.web.breaker import Line, is_hanging, silent_s
from dashboard.web.metrics import count_held_back

READS = (
    "List pages",
    "Get page",
    "List audiences",
    "Get audience messages",
    "List people",
    "Search people",
    "Update webhook subscription",
)
"""The last one by its empty change, which is how a subscription is read."""
KEPT_S = 10 * 60

_logger = logging.getLogger("dashboard.breakers")

_waiting: dict[str, list[float]] = defaultdict(list)
"""When each call of this process that is under way began, on the monotonic clock."""
_answered: dict[str, float] = {}
"""When a call of this process was last answered, on the same clock."""
_counting = Lock()


@contextmanager
def guarded(call: Call) -> Iterator[None]:
    """Let a call through, or raise NotReachedError at once. A write always goes through."""
    if not call.is_read:
        yield
        return
    if reason := _reason_to_hold_back(call.operation):
        _tell(call.operation)
        raise NotReachedError(f"The service was not asked: {reason}")
    try:
        with _counted(call.operation):
            yield
    except NoAnswerError:
        _note_silence(call.operation)
        raise
    except APIError:
        _note_answer(call.operation)
        raise
    _note_answer(call.operation)


def broken_lines() -> list[str]:
    """Return the operations that are held back now."""
    kept = cache.get_many([_key(operation) for operation in READS])
    return [each for each in READS if kept.get(_key(each), Line()).is_broken]


def _reason_to_hold_back(operation: str) -> str:
    """Return why a call is not made, as a sentence goes on; nothing where it is."""
    line, now = _line(operation), time.time()
    if line.is_broken:
        rest_s = line.rest_s(now)
        if rest_s or not _is_first_to_look(operation):
            again = f"in {rest_s:.0f} s" if rest_s >= 1 else "in a moment"
            return f"it gave no answer {line.silences} times in a row. It is asked again {again}."
    elif is_hanging(_silent_s(operation), time_limit_s=settings.SERVICE_TIMEOUT_S):
        return "others have been waiting for its answer for a while."
    return ""


def _tell(operation: str) -> None:
    count_held_back(operation)
    _logger.warning("Held back: %s", operation, extra={"facts": {"operation": operation}})


def _note_silence(operation: str) -> None:
    line = _line(operation).after_silence(time.time())
    cache.set(_key(operation), line, timeout=KEPT_S)
    cache.delete(_look(operation))


def _note_answer(operation: str) -> None:
    _answered[operation] = time.monotonic()
    if cache.get(_key(operation)):
        cache.delete_many([_key(operation), _look(operation)])


def _is_first_to_look(operation: str) -> bool:
    # Forgotten after a while, as a process that was killed never says how its look ended.
    return bool(cache.add(_look(operation), 1, timeout=settings.SERVICE_TIMEOUT_S + 5))


def _line(operation: str) -> Line:
    return cache.get(_key(operation)) or Line()


def _silent_s(operation: str) -> list[float]:
    with _counting:
        began = list(_waiting[operation])
    return silent_s(began, answered=_answered.get(operation, 0.0), now=time.monotonic())


@contextmanager
def _counted(operation: str) -> Iterator[None]:
    since = time.monotonic()
    with _counting:
        _waiting[operation].append(since)
    try:
        yield
    finally:
        with _counting:
            _waiting[operation].remove(since)


def _key(operation: str) -> str:
    return f"service:line:{operation.replace(' ', '-')}"


def _look(operation: str) -> str:
    return f"service:look:{operation.replace(' ', '-')}"
