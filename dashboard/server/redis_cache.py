"""Django's Redis cache, made to tolerate an unavailable Redis.

Only disposable data is cached; sessions are in the database. While Redis is unavailable, reads
miss, writes are ignored, and `/health/ready` returns 503.
"""

import json
import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

T = TypeVar("T")

LOG_INTERVAL_S = 10.0
"""Interval in which at most one failure is logged."""
RETRY_AFTER_S = 3.0
"""How long Redis is skipped after a timeout. Source: our choice.

A page makes about ten cache calls, and each would time out.
"""

_logger = logging.getLogger(__name__)
_last_logged = -LOG_INTERVAL_S
_skipped_until: dict[str, float] = {}
"""When each Redis is tried again, by URL, on the monotonic clock.

All threads share it, because Django makes a cache for each thread.
"""


def _tolerant(call: Callable[..., T], fallback: Callable[..., T]) -> Callable[..., T]:
    """Return a cache method that returns the result of `fallback` if Redis is unavailable."""

    @wraps(call)
    def method(self: "FaultTolerantRedisCache", *args: Any, **options: Any) -> T:
        if time.monotonic() < _skipped_until.get(self.url, 0.0):
            return fallback(*args, **options)
        try:
            return call(self, *args, **options)
        except (RedisError, OSError) as error:
            if isinstance(error, RedisTimeoutError | TimeoutError):
                _skipped_until[self.url] = time.monotonic() + RETRY_AFTER_S
            _log(error)
            return fallback(*args, **options)

    return method


def _no_count(key: Any, *args: Any, **options: Any) -> int:
    raise ValueError(f"Key {key!r} not found")


class JSONSerializer:
    """JSON instead of Django's pickles, with which anyone who can write to Redis could run code.

    Tuples come back as lists, and the keys of dicts as strings.
    """

    def dumps(self, value: Any) -> int | bytes:
        # Integers are stored unchanged, so that Redis can increment them.
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: int | bytes) -> Any:
        """Return the value, or None if it can't be read because another release wrote it."""
        try:
            return json.loads(data) if isinstance(data, bytes) else data
        except (ValueError, RecursionError) as error:
            _logger.warning("A cached value can't be read: %s", type(error).__name__)
            return None


class FaultTolerantRedisCache(RedisCache):
    """Django's Redis cache, which behaves like an empty cache while Redis is unavailable."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        options = {"serializer": JSONSerializer} | params.get("OPTIONS", {})
        super().__init__(server, params | {"OPTIONS": options})
        self.url = str(server)

    get = _tolerant(RedisCache.get, lambda key, default=None, *_, **__: default)
    get_many = _tolerant(RedisCache.get_many, lambda *_, **__: {})
    has_key = _tolerant(RedisCache.has_key, lambda *_, **__: False)
    add = _tolerant(RedisCache.add, lambda *_, **__: False)
    set = _tolerant(RedisCache.set, lambda *_, **__: None)
    set_many = _tolerant(RedisCache.set_many, lambda data, *_, **__: list(data))
    touch = _tolerant(RedisCache.touch, lambda *_, **__: False)
    delete = _tolerant(RedisCache.delete, lambda *_, **__: False)
    delete_many = _tolerant(RedisCache.delete_many, lambda *_, **__: None)
    incr = _tolerant(RedisCache.incr, _no_count)


def _log(error: Exception) -> None:
    global _last_logged  # noqa: PLW0603  # two threads at once log twice, which is no harm
    now = time.monotonic()
    if now - _last_logged >= LOG_INTERVAL_S:
        _last_logged = now
        _logger.warning("The cache does not respond: %s", error)
