"""Entries of the change feed, and writers that add to it one step at a time."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connections, transaction

from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind

T = TypeVar("T")


class FeedWriter:
    """Begins a transaction, adds entries and ends it when the test says so."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._transaction: transaction.Atomic | None = None
        self.uncommitted: list[str] = []
        """Page ids of the entries in the open transaction."""

    @property
    def is_open(self) -> bool:
        return self._transaction is not None

    def begin(self) -> None:
        self._transaction = transaction.atomic()
        self._run(self._transaction.__enter__)

    def add(self, page_id: str) -> None:
        self._run(lambda: feed.add(FeedEntry(kind=FeedKind.PAGE, page_id=page_id)))
        self.uncommitted.append(page_id)

    def end(self, *, is_committed: bool = True) -> list[str]:
        """Commit or roll back; return the ids of the committed entries."""
        assert self._transaction
        atomic, self._transaction = self._transaction, None
        ids, self.uncommitted = self.uncommitted, []
        if not is_committed:
            self._run(lambda: transaction.set_rollback(True))
        self._run(lambda: atomic.__exit__(None, None, None))
        return ids if is_committed else []

    def close(self) -> None:
        if self.is_open:
            self.end(is_committed=False)
        self._run(connections.close_all)
        self._thread.shutdown()

    def _run(self, act: Callable[[], T]) -> T:
        return self._thread.submit(act).result(60)


@contextmanager
def feed_writers(count: int) -> Iterator[list[FeedWriter]]:
    writers = [FeedWriter() for _ in range(count)]
    try:
        yield writers
    finally:
        for writer in writers:
            writer.close()


def poll_all(cursor: str | None) -> feed.Changes:
    """Wait until nothing is held back, as by other tests' transactions on the server, and poll."""
    while (held_s := feed.changes_since(None).delay_s) is not None:
        assert held_s < 60, "held back for too long"
    return feed.changes_since(cursor)


@contextmanager
def added_to_feed() -> Iterator[list[FeedEntry]]:
    """Yield a list that is filled with the block's entries when the block ends."""
    entries: list[FeedEntry] = []
    last = FeedEntry.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    yield entries
    entries += FeedEntry.objects.filter(seq__gt=last).order_by("seq")


def facts(entries: list[FeedEntry]) -> list[tuple[str, ...]]:
    """Return the kind and the ids of each entry."""
    return [
        (entry.kind, *filter(None, (entry.page_id, entry.audience_id, entry.object_id)))
        for entry in entries
    ]
