"""Things told apart by which they are, so that what follows from one can be kept for it."""

from typing import Generic, TypeVar

T = TypeVar("T")


class Itself(Generic[T]):
    """A thing as the one it is, not as what it holds: a key for what is kept of it.

    While the service says the same, the client gives the very things it gave before.
    """

    __slots__ = ("thing",)

    def __init__(self, thing: T) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)
