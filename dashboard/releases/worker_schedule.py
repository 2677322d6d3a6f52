"""When a worker has something to do: one query for all kinds of work, and its heartbeat.

Waking up for a query takes longer than the query itself, and the two together 0.4 ms of processor
time on SQLite, 0.7 ms on PostgreSQL. So one query finds all that may be due, and an idle worker
makes it less often.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import Error, close_old_connections, connections
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from dashboard.compiled_query import CompiledQuery
from dashboard.contract.dates import read_date
from dashboard.releases.models import WorkerHeartbeat
from dashboard.work.tasks import WorkerTask

CHECK_S = 1.0
"""Between two checks while there is work. What has a time is also started at that time."""
IDLE_CHECK_S = 4.0
"""Between two checks when nothing was due in the last minute."""
IDLE_AFTER_S = 60.0
HEARTBEAT_S = 20.0
FORGOTTEN_AFTER = timedelta(days=1)

_logger = logging.getLogger("dashboard.worker")


class Schedule:
    """What is due, for one worker."""

    def __init__(self, worker_id: str, tasks: Sequence[WorkerTask]) -> None:
        self._worker_id = worker_id
        self._columns = {
            f"due_{number}": (task, Subquery(query()))
            for number, (task, query) in enumerate(
                (task, query) for task in tasks for query in task.due
            )
        }
        self._earliest = CompiledQuery(self._build)
        # On the monotonic clock: that of the day may be set back.
        self._next_beat = 0.0
        self._active_at = time.monotonic()

    def check(self) -> tuple[list[WorkerTask], float]:
        """Return the tasks that are due, and in how many seconds to check again. One query."""
        try:
            self._beat()
            times = list(self._times())
        except Error:
            _logger.exception("The database failed")
            close_old_connections()
            return [], IDLE_CHECK_S
        except Exception:
            # A value in one queue that can't be read must not stop the others.
            _logger.exception("What is due could not be read, so each kind of work is tried")
            return list(dict.fromkeys(task for task, _ in self._columns.values())), IDLE_CHECK_S
        now, seconds = timezone.now(), time.monotonic()
        due = [task for task, at in times if at <= now]
        if due:
            self._active_at = seconds
        is_idle = seconds - self._active_at >= IDLE_AFTER_S
        until_next_s = ((at - now).total_seconds() for _, at in times if at > now)
        pause_s = min([IDLE_CHECK_S if is_idle else CHECK_S, *until_next_s])
        return list(dict.fromkeys(due)), pause_s

    def close(self) -> None:
        """Remove the heartbeat."""
        try:
            WorkerHeartbeat.objects.filter(pk=self._worker_id).delete()
        except Error:
            _logger.exception("The heartbeat could not be removed")
        finally:
            connections.close_all()

    def _build(self, worker_id: str) -> "QuerySet[WorkerHeartbeat, Any]":
        """Select the time of the earliest work of each kind, beside the worker's own row."""
        own = WorkerHeartbeat.objects.filter(pk=worker_id)
        columns = {name: query for name, (_, query) in self._columns.items()}
        return own.annotate(**columns).values_list(*columns, named=True)

    def _times(self) -> Iterator[tuple[WorkerTask, datetime]]:
        """Yield each task with the time of its earliest work, if it has any."""
        row = self._earliest.first(self._worker_id)
        for name, (task, _) in self._columns.items() if row else ():
            value = getattr(row, name)
            at = read_date(value) if isinstance(value, str) else value
            if at:
                yield task, at

    def _beat(self) -> None:
        """Write the heartbeat now and then, and at first remove those of dead workers."""
        seconds, now = time.monotonic(), timezone.now()
        if seconds < self._next_beat:
            return
        if not WorkerHeartbeat.objects.filter(pk=self._worker_id).update(active_at=now):
            WorkerHeartbeat.objects.filter(active_at__lt=now - FORGOTTEN_AFTER).delete()
            WorkerHeartbeat.objects.create(pk=self._worker_id, started_at=now, active_at=now)
        self._next_beat = seconds + HEARTBEAT_S
