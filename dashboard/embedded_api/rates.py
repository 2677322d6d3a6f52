"""How often a key may call: so many times in each minute of the clock. Source: our choice.

Counted in the cache, so processes that share one count together; without a cache nobody is refused.
The dashboard's own calls, which a person waits for, are not counted.
"""

import time
from hashlib import sha256

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from redis.exceptions import RedisError

from dashboard.embedded_api.keys import internal_key

MINUTE_S = 60


def wait_s(request: HttpRequest) -> int:
    """Return for how many seconds a caller has to wait; 0 who may call now. Counts the call."""
    key = request.headers.get("x-api-key", "")
    if constant_time_compare(key, internal_key()):
        return 0
    minute, passed_s = divmod(int(time.time()), MINUTE_S)
    caller = sha256(key.encode(errors="replace")).hexdigest()[:32]
    counted = f"api:calls:{minute}:{caller}"
    try:
        cache.add(counted, 0, timeout=2 * MINUTE_S)
        calls = cache.incr(counted)
    except (RedisError, ValueError):
        # ValueError: gone from a full cache between the two.
        return 0
    return MINUTE_S - passed_s if calls > settings.EMBEDDED_API_CALLS_PER_MINUTE else 0
