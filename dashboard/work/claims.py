"""Claims: which worker may act on a row of a queue, and how long a failed row waits.

A claim is the pair of the row's `worker_id` and `wake_at`, the time when it ends. Changing either
takes the claim away. Another worker does so after the claim has ended. A person's decision does so
at any time.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, RLock, Thread
from typing import Any, Generic, TypeVar

from django.db import Error, close_old_connections, connection, models, transaction
from django.db.models import QuerySet
from django.db.models.expressions import Combinable

from dashboard import clock
from dashboard.clock import CLAIM, RENEWED_AFTER

BACK_OFF = (
    *(timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=2)),
    *(timedelta(minutes=10), timedelta(minutes=30), timedelta(hours=1)),
)
"""Waits after the first failure, the second, and so on; the last repeats. Source: our choice."""
MAX_RETRY_AFTER = timedelta(hours=1)

_logger = logging.getLogger("dashboard.worker")


def back_off(failures: int, retry_after: timedelta = timedelta()) -> timedelta:
    """Return how long to wait after this many consecutive failures, at least 1.

    A longer `retry_after`, requested by the other side, is respected up to an hour.
    """
    wait = BACK_OFF[min(failures, len(BACK_OFF)) - 1]
    return max(wait, min(retry_after, MAX_RETRY_AFTER))


class ClaimedRow(models.Model):
    """A row of a queue: workers claim the one that has waited longest."""

    wake_at = models.DateTimeField(null=True)
    """When a worker acts on it next; during a claim, when the claim ends. Null means never."""
    worker_id = models.CharField(max_length=64, blank=True)
    """The worker that acts on it, or was killed while acting; empty between two steps."""

    class Meta:
        abstract = True


RowT = TypeVar("RowT", bound=ClaimedRow)


class ClaimLostError(Exception):
    """The claim has ended or was taken away. Nothing was changed, and the worker must stop."""


@dataclass(repr=False)
class Claim(Generic[RowT]):
    """The right of one worker to act on one row until a time."""

    row: RowT
    """The row as it was when it was claimed."""
    worker_id: str
    until: datetime
    is_takeover: bool
    """Whether another worker's claim expired, because that worker is gone or suspended."""
    claimed_at: datetime = field(default_factory=clock.now)
    _lock: RLock = field(default_factory=RLock)
    """Held while `until` and the row change together: `renewed` runs its own thread."""

    def __repr__(self) -> str:
        # Used in the log, so it contains no names from the row.
        return f"{type(self.row).__name__} {self.row.pk}"

    @contextmanager
    def locked(self) -> Iterator[RowT]:
        """Lock the row in a transaction. Raises ClaimLostError if the claim has ended or was taken.

        A suspended worker may find its claim ended although no other worker has taken it. What it
        has read is too old to act on.
        """
        with self._lock, transaction.atomic():
            row = self._rows().select_for_update().first()
            if row is None or clock.now() > self.until:
                raise ClaimLostError
            yield row

    def extend(self) -> None:
        """Restart the claim's time. Call this within `locked`."""
        until = clock.now() + CLAIM
        self._rows().update(wake_at=until)
        # If the transaction is rolled back, the claim is lost and ends by itself.
        self.until = until

    def renew(self) -> None:
        """Extend the claim if RENEWED_AFTER has passed. Raises ClaimLostError."""
        if self.until - clock.now() > CLAIM - RENEWED_AFTER:
            return
        with self.locked():
            self.extend()

    @contextmanager
    def renewed(self) -> Iterator[None]:
        with all_renewed([self]):
            yield

    def release(self, wake_at: datetime | Combinable | None, **columns: Any) -> bool:
        """Release the row with the time of its next step, and change `columns`."""
        with self._lock:
            return bool(self._rows().update(wake_at=wake_at, worker_id="", **columns))

    def _rows(self) -> QuerySet[RowT]:
        rows: QuerySet[RowT] = type(self.row)._default_manager.all()
        return rows.filter(pk=self.row.pk, worker_id=self.worker_id, wake_at=self.until)


@contextmanager
def all_renewed(claims: Iterable[Claim[Any]]) -> Iterator[None]:
    """Renew claims in another thread while the block runs."""
    has_ended = Event()
    thread = Thread(target=_renew_until, args=(has_ended, [*claims]), daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _renew_until(has_ended: Event, claims: list[Claim[Any]]) -> None:
    try:
        while not has_ended.wait(RENEWED_AFTER.total_seconds()):
            for claim in [*claims]:
                try:
                    claim.renew()
                except ClaimLostError:
                    # The block notices it when it changes the row.
                    claims.remove(claim)
                except Error:
                    _logger.exception("A claim could not be renewed")
                    close_old_connections()
    finally:
        connection.close()


def claim_next(rows: QuerySet[RowT], worker_id: str, now: datetime) -> Claim[RowT] | None:
    """Claim the row that has waited longest, or return None. One query if none is due."""
    return next(iter(claim_due(rows, worker_id, now, at_most=1)), None)


def claim_due(
    rows: QuerySet[RowT], worker_id: str, now: datetime, *, at_most: int, **columns: Any
) -> list[Claim[RowT]]:
    """Claim the rows that have waited longest, and change `columns`. One query if none is due."""
    due = rows.filter(wake_at__lte=now).order_by("wake_at", "pk")
    if not due.exists():
        return []
    until = now + CLAIM
    with transaction.atomic():
        # On PostgreSQL, workers skip rows that another one is claiming. SQLite has one writer.
        can_skip = connection.features.has_select_for_update_skip_locked
        unlocked = list(due.select_for_update(skip_locked=can_skip)[:at_most])
        claimed = rows.model._default_manager.filter(pk__in=[row.pk for row in unlocked])
        claimed.update(worker_id=worker_id, wake_at=until, **columns)
    return [Claim(row, worker_id, until, is_takeover=bool(row.worker_id)) for row in unlocked]


def earliest(rows: Callable[[], QuerySet[RowT]]) -> "QuerySet[RowT, Any]":
    """Return a query of the time when the first row is due, or its claim ends."""
    waiting = rows().filter(wake_at__isnull=False).order_by("wake_at")
    return waiting.values_list("wake_at", named=True)[:1]
