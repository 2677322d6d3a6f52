"""Rate limits per minute of the clock. Source: our choice."""

import time
from contextlib import suppress

from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache

MINUTE_S = 60
_of_process = LocMemCache("rate-limits", {"OPTIONS": {"MAX_ENTRIES": 10_000}})
"""More than the default of 300, which callers with made-up names could exhaust."""


def seconds_to_wait(what: str, *, at_most: int) -> int:
    """Count one request; return 0, or the seconds until one is accepted again.

    The count is in the cache, which processes share with CACHE_URL. If that is unavailable, each
    process counts for itself.
    """
    minute, passed_s = divmod(int(time.time()), MINUTE_S)
    key = f"{what}:{minute}"
    for counts in (cache, _of_process):
        counts.add(key, 0, timeout=2 * MINUTE_S)
        # ValueError: the count could not be stored, or was dropped between the two.
        with suppress(ValueError):
            return MINUTE_S - passed_s if counts.incr(key) > at_most else 0
    return 0
