"""What was made of things that come again and again, and are mostly what they were."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ThingT = TypeVar("ThingT")
MadeT = TypeVar("MadeT")


class Kept(Generic[KeyT, ThingT, MadeT]):
    """What was made of the last thing of each key. Threads may share it.

    A thing is compared with the one before it. A cache would hash it first, which of a long text
    takes several times as long.
    """

    def __init__(self, most: int, *, is_good: Callable[[MadeT], bool] = lambda _: True) -> None:
        """Keep so many; of more, the one made longest ago goes.

        What `is_good` no more is made anew, though the thing be the same.
        """
        self._most = most
        self._is_good = is_good
        self._kept: dict[KeyT, tuple[ThingT, MadeT]] = {}
        self._turn = Lock()

    def made_of(self, key: KeyT, thing: ThingT, make: Callable[[ThingT], MadeT]) -> MadeT:
        """Return what `make` made of the thing: the very same while this key's thing is equal."""
        before = self._kept.get(key)
        if before is not None and before[0] == thing and self._is_good(before[1]):
            return before[1]
        made = make(thing)
        with self._turn:
            self._kept.pop(key, None)
            self._kept[key] = (thing, made)
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return made
