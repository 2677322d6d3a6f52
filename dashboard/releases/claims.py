"""Claims: which worker may act on a release.

A claim is the pair of the row's `worker_id` and `wake_at`, the time when it ends. Changing either
takes it away: so do another worker once it has ended, and a person who decides something. Without
a `worker_id`, no worker acts on the release, and `wake_at` is the time of its next step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.compiled_query import CompiledQuery
from dashboard.releases.models import Release

CLAIM = timedelta(seconds=60)
"""Longer than the clocks of two machines differ. A killed worker's release waits as long."""
RENEWED_BEFORE_END = timedelta(seconds=50)
"""A claim that is older than ten seconds is renewed, a younger one is not written again."""


class ClaimLostError(Exception):
    """The claim has ended or was taken away: nothing was changed, and nothing more may be."""


@dataclass
class Claim:
    """The right of one worker to act on one release until a time."""

    release_id: int
    worker_id: str
    until: datetime

    @contextmanager
    def locked(self) -> Iterator[Release]:
        """Lock the release in a transaction, as long as the claim holds. Raises ClaimLostError.

        A worker that was suspended for longer finds its claim ended, whether or not another worker
        has taken it: what it has read is too old to act on.
        """
        with transaction.atomic():
            found = Release.objects.select_for_update().filter(**self._row()).first()
            if found is None or timezone.now() > self.until:
                raise ClaimLostError
            yield found

    def extend(self, duration: timedelta) -> None:
        """Let the claim end so much after now, within `locked`."""
        until = timezone.now() + duration
        Release.objects.filter(**self._row()).update(wake_at=until)
        # If the transaction is rolled back, the claim is lost and ends by itself.
        self.until = until

    def renew(self) -> None:
        """Extend the claim if a part of it has passed. Raises ClaimLostError."""
        if self.until - timezone.now() > RENEWED_BEFORE_END:
            return
        with self.locked():
            self.extend(CLAIM)

    def let_go(self, wake_at: datetime | None) -> bool:
        """Give the claim back, with the time of the next step; return whether it still held."""
        row = Release.objects.filter(**self._row())
        return bool(row.update(wake_at=wake_at, worker_id=""))

    def _row(self) -> dict[str, object]:
        return {"pk": self.release_id, "worker_id": self.worker_id, "wake_at": self.until}


def claim_due(worker_id: str, now: datetime) -> Claim | None:
    """Claim the release that has waited longest for a worker, or return None. One query if none."""
    earliest = _EARLIEST.first()
    if earliest is None or earliest.wake_at > now:
        return None
    with transaction.atomic():
        # On PostgreSQL, workers pass by what another one is claiming. SQLite has one writer.
        unlocked = Release.objects.select_for_update(
            skip_locked=connection.features.has_select_for_update_skip_locked
        )
        due = unlocked.filter(wake_at__lte=now).order_by("wake_at").only("pk").first()
        if due is None:
            return None
        until = now + CLAIM
        Release.objects.filter(pk=due.pk).update(worker_id=worker_id, wake_at=until)
    return Claim(due.pk, worker_id, until)


def earliest_wake() -> "QuerySet[Release, Any]":
    """Return the time when a release first needs a worker, or when a claim ends."""
    due = Release.objects.filter(wake_at__isnull=False).order_by("wake_at")
    return due.values_list("wake_at", named=True)[:1]


_EARLIEST = CompiledQuery(earliest_wake)
