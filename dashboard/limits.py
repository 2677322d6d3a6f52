"""Limits on requests per clock minute and on rows per owner. Source: our choice."""

from collections import Counter, defaultdict
from contextlib import suppress
from threading import Lock
from typing import Any

from django.core.cache import cache, caches
from django.core.cache.backends.locmem import LocMemCache
from django.db.models import QuerySet

from dashboard import clock

MINUTE_S = 60
MAX_NAMES = 10_000
"""Names counted for each kind in a minute. Further names share one count, so invented names push
none out."""


class _ProcessCounts:
    def __init__(self) -> None:
        self._lock = Lock()
        self._minute = 0
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, what: str, minute: int) -> int:
        kind, _, name = what.partition(":")
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            counts = self._counts[kind]
            if name not in counts and len(counts) >= MAX_NAMES:
                name = ""
            counts[name] += 1
            return counts[name]

    def clear(self) -> None:
        with self._lock:
            self._counts.clear()


OF_PROCESS = _ProcessCounts()


def seconds_to_wait(what: str, *, at_most: int) -> int:
    """Count one request of `kind` or `kind:name`; return 0, or the seconds until one is accepted.

    Processes that share a cache by CACHE_URL share the count. If there is none, or it is
    unavailable, each process counts for itself.
    """
    minute, passed_s = divmod(int(clock.now().timestamp()), MINUTE_S)
    count = _count_shared(f"{what}:{minute}") or OF_PROCESS.count(what, minute)
    return MINUTE_S - passed_s if count > at_most else 0


def _count_shared(key: str) -> int:
    """Count in the shared cache and return the count; 0 if there is none."""
    if not isinstance(caches["default"], LocMemCache):
        cache.add(key, 0, timeout=2 * MINUTE_S)
        # ValueError: the count could not be stored, or was dropped between the two calls.
        with suppress(ValueError):
            return int(cache.incr(key))
    return 0


def has_room(rows: QuerySet[Any], *, at_most: int) -> bool:
    """Return whether there are fewer rows. Call this in the transaction that adds one."""
    # Wait for another transaction that is adding a row, so that its row is counted.
    list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    return rows.count() < at_most
