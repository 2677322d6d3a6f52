"""The cache in Redis that processes share, without which the dashboard still works.

Nothing that must not be lost is kept in it, and nothing that must not come back: sessions stand in
the database alone. So where Redis is away, what is asked for was not kept, and what is given is not
kept; `/health/ready` says so.
"""

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import Redis
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

T = TypeVar("T")

QUIET_S = 10.0
"""Of many failures in a row, one in this time is told."""
REST_S = 3.0
"""After a silence Redis is not asked for this time: each question would wait as long as the last,
and a page has ten of them. Source: our choice."""

_logger = logging.getLogger(__name__)
_told_at = -QUIET_S
_rests_until: dict[str, float] = {}
"""Of each Redis, by its address, on the monotonic clock. For all threads: each has its cache."""


class SharedCache(RedisCache):
    """Django's own, for which a Redis that does not answer is an empty one."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client
        self._address = str(server)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return what was kept."""
        return self._or(
            lambda: super(SharedCache, self).get(key, default, version), instead=default
        )

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        """Return what was kept of these."""
        return self._or(lambda: super(SharedCache, self).get_many(keys, version), instead={})

    def has_key(self, key: Any, version: int | None = None) -> bool:
        """Whether anything was kept."""
        return self._or(lambda: super(SharedCache, self).has_key(key, version), instead=False)

    def add(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> bool:
        """Keep what was not kept before, and return whether that was so."""
        return self._or(
            lambda: super(SharedCache, self).add(key, value, *args, **kwargs), instead=False
        )

    def set(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        """Keep it."""
        self._or(lambda: super(SharedCache, self).set(key, value, *args, **kwargs), instead=None)

    def set_many(self, data: Any, *args: Any, **kwargs: Any) -> list[Any]:
        """Keep them, and return the keys that were not kept."""
        return self._or(
            lambda: super(SharedCache, self).set_many(data, *args, **kwargs), instead=list(data)
        )

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Drop it, and return whether it was there."""
        return self._or(lambda: super(SharedCache, self).delete(key, version), instead=False)

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        """Drop them."""
        self._or(lambda: super(SharedCache, self).delete_many(keys, version), instead=None)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Count on. Raises ValueError where the count was not kept, as Django's caches do."""
        counted = self._or(lambda: super(SharedCache, self).incr(key, delta, version), instead=None)
        if counted is None:
            raise ValueError(f"Key {key!r} not found")
        return counted

    def _or(self, ask: Callable[[], T], *, instead: T) -> T:
        """Return what Redis says, or `instead` where it does not answer."""
        if time.monotonic() < _rests_until.get(self._address, 0.0):
            return instead
        try:
            return ask()
        except (RedisError, OSError) as error:
            if isinstance(error, RedisTimeoutError | TimeoutError):
                _rests_until[self._address] = time.monotonic() + REST_S
            _tell(error)
            return instead


class _Client(RedisCacheClient):
    """Django's own, with one client of redis for each pool: it makes one for each question."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._client = cache(Redis)


def _tell(error: Exception) -> None:
    global _told_at  # noqa: PLW0603  # two threads at once tell twice, which is no harm
    now = time.monotonic()
    if now - _told_at >= QUIET_S:
        _told_at = now
        _logger.warning("The cache does not answer: %s", error)
