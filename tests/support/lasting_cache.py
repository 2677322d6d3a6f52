"""A cache whose values don't expire during a test."""

from typing import Any

from django.core.cache.backends.locmem import LocMemCache


class LastingCache(LocMemCache):
    """Keep values for the whole test.

    What is cached for 3 s may expire between two views on a slow machine: a test that counts
    queries would then count one more.
    """

    def get_backend_timeout(self, timeout: Any = None) -> float | None:
        """Return None, as all values last. A timeout of 0 or less still caches nothing."""
        is_lasting = not isinstance(timeout, int | float) or timeout > 0
        return None if is_lasting else super().get_backend_timeout(timeout)
