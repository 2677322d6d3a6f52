"""A cache of values computed from inputs that rarely change."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
InputT = TypeVar("InputT")
ValueT = TypeVar("ValueT")


class ByteBoundedCache(Generic[KeyT, InputT, ValueT]):
    """Caches the value computed from the last input of each key, up to a size. Thread-safe.

    An input is compared with the previous one by equality: hashing a long text is slower.
    """

    def __init__(self, max_bytes: int, *, size_of: Callable[[InputT, ValueT], int]) -> None:
        """`size_of` estimates the bytes of an entry; above `max_bytes` the oldest are evicted."""
        self._max_bytes = max_bytes
        self._size_of = size_of
        self._entries: dict[KeyT, tuple[InputT, ValueT, int]] = {}
        self._bytes = 0
        self._lock = Lock()

    @property
    def size_bytes(self) -> int:
        """The size of all entries."""
        return self._bytes

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get_or_compute(
        self, key: KeyT, source: InputT, compute: Callable[[InputT], ValueT]
    ) -> ValueT:
        """Return `compute(source)`, the same object as long as this key's source is equal."""
        entry = self._entries.get(key)
        if entry is not None and entry[0] == source:
            return entry[1]
        value = compute(source)
        size = self._size_of(source, value)
        with self._lock:
            self._drop(key)
            if size <= self._max_bytes:
                self._entries[key] = (source, value, size)
                self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))
        return value

    def _drop(self, key: KeyT) -> None:
        if entry := self._entries.pop(key, None):
            self._bytes -= entry[2]
