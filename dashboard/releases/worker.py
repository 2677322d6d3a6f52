"""The worker. It starts threads for each kind of work that is due, releases first.

Sending has its own threads, because the check of a large draft takes minutes. Any number of
workers may run on any number of machines. A thread claims one release at a time in the database
(`work/claims.py`). Each step resumes from the state in the database (`running.py`).
"""

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Thread
from typing import Any

from django.db import Error, close_old_connections, connections
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from dashboard import clock
from dashboard.compiled_query import CompiledQuery
from dashboard.contract.wire import read_date
from dashboard.releases.decisions import set_live, skip_live
from dashboard.releases.following import (
    failed_and_live,
    held_and_live,
    unknown_and_changed,
    wake_releases,
)
from dashboard.releases.holding import ACTIVE, fail
from dashboard.releases.models import Release, ReleaseItem, ReleaseState, WorkerHeartbeat
from dashboard.releases.running import advance
from dashboard.service.client import close_publishing_client
from dashboard.work.claims import Claim, ClaimLostError, claim_next, earliest
from dashboard.work.tasks import WorkerTask, work_through

CHECK_S = 1.0
"""Interval between checks while there is work. Timed work starts at its time."""
IDLE_CHECK_S = 4.0
"""Interval between checks when nothing was due for IDLE_AFTER_S."""
IDLE_AFTER_S = 60.0
HEARTBEAT_S = 20.0
FORGOTTEN_AFTER = timedelta(days=1)
MISSING_AFTER = timedelta(seconds=3 * HEARTBEAT_S)
"""A worker counts as missing after three heartbeat intervals. Source: our choice."""

MAX_SMALL = 10
"""Versions in a release that need not wait for larger ones. Source: our choice."""

_logger = logging.getLogger("dashboard.worker")


def new_worker_id() -> str:
    return f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"


class Schedule:
    """Finds due work of all kinds with one query, and writes the worker's heartbeat.

    Waking up takes longer than the query. Together they take 0.4 ms of processor time on SQLite
    and 0.7 ms on PostgreSQL, so an idle worker checks less often.
    """

    def __init__(self, worker_id: str, tasks: Sequence[WorkerTask]) -> None:
        self._worker_id = worker_id
        self._columns = {
            f"due_{number}": (task, Subquery(query()))
            for number, (task, query) in enumerate(
                (task, query) for task in tasks for query in task.due
            )
        }
        self._earliest = CompiledQuery(tuple, self._build)
        # Monotonic, because the wall clock may be set back.
        self._next_beat = 0.0
        self._active_at = time.monotonic()

    def check(self) -> tuple[list[WorkerTask], float]:
        """Return the due tasks and the seconds until the next check. One query."""
        try:
            self._beat()
            row = self._earliest.first(self._worker_id) or ()
            times = [
                (task, at)
                for (task, _), value in zip(self._columns.values(), row, strict=False)
                if (at := read_date(value) if isinstance(value, str) else value)
            ]
        except Error:
            _logger.exception("The database failed")
            close_old_connections()
            return [], IDLE_CHECK_S
        except Exception:
            # An unreadable value in one queue must not stop the others.
            _logger.exception("What is due could not be read, so each kind of work is tried")
            return list(dict.fromkeys(task for task, _ in self._columns.values())), IDLE_CHECK_S
        now, seconds = clock.now(), time.monotonic()
        due = [task for task, at in times if at <= now]
        if due:
            self._active_at = seconds
        is_idle = seconds - self._active_at >= IDLE_AFTER_S
        until_next_s = ((at - now).total_seconds() for _, at in times if at > now)
        pause_s = min([IDLE_CHECK_S if is_idle else CHECK_S, *until_next_s])
        return list(dict.fromkeys(due)), pause_s

    def close(self) -> None:
        try:
            WorkerHeartbeat.objects.filter(pk=self._worker_id).delete()
        except Error:
            _logger.exception("The heartbeat could not be removed")
        finally:
            connections.close_all()

    def _build(self, worker_id: str) -> "QuerySet[WorkerHeartbeat, Any]":
        own = WorkerHeartbeat.objects.filter(pk=worker_id)
        columns = {name: query for name, (_, query) in self._columns.items()}
        return own.annotate(**columns).values_list(*columns)

    def _beat(self) -> None:
        """Write the heartbeat every HEARTBEAT_S. The first one also deletes dead workers' rows."""
        seconds = time.monotonic()
        if seconds < self._next_beat:
            return
        clock.measure()
        now = clock.now()
        if not WorkerHeartbeat.objects.filter(pk=self._worker_id).update(active_at=now):
            WorkerHeartbeat.objects.filter(active_at__lt=now - FORGOTTEN_AFTER).delete()
            WorkerHeartbeat.objects.create(pk=self._worker_id, started_at=now, active_at=now)
        self._next_beat = seconds + HEARTBEAT_S


def run_worker(
    worker_id: str,
    stop: Event,
    *,
    is_orphaned: Callable[[], bool] = lambda: False,
    tasks: Sequence[WorkerTask] = (),
) -> None:
    """Work until `stop` is set or `is_orphaned` returns True.

    Work in progress is finished first. An error is logged, and a task that is still due runs again
    at the next check.
    """
    schedule = Schedule(worker_id, (*RELEASE_TASKS, *tasks))
    threads = {
        (task, 0): Thread(target=_run, args=(task, worker_id, stop))
        for task in tasks
        if task.every_s
    }
    for thread in threads.values():
        thread.start()
    try:
        while not stop.is_set() and not is_orphaned():
            due, pause_s = schedule.check()
            for task in due:
                for place in ((task, number) for number in range(task.threads)):
                    if place not in threads or not threads[place].is_alive():
                        threads[place] = Thread(target=_run, args=(task, worker_id, stop))
                        threads[place].start()
                        # One thread per check: the query excludes work already claimed.
                        break
            stop.wait(pause_s)
    finally:
        stop.set()
        for thread in threads.values():
            thread.join()
        schedule.close()
        close_publishing_client()


def _run(task: WorkerTask, worker_id: str, stop: Event) -> None:
    """Run a task once, or at its interval until stopped.

    Repeated runs share one connection, because a new one takes 2 ms.
    """
    try:
        while not stop.is_set():
            try:
                task.run(worker_id, stop)
            except Exception:
                # The claim expires, and the work is tried again.
                _logger.exception("A task of the worker failed")
                close_old_connections()
            if not task.every_s:
                return
            stop.wait(task.every_s)
    finally:
        connections.close_all()


def in_states(states: Sequence[str]) -> QuerySet[Release]:
    return Release.objects.filter(state__in=states)


def small_releases() -> QuerySet[Release]:
    items = ReleaseItem.objects.filter(release=OuterRef("pk")).order_by("pk")
    return in_states(ACTIVE).filter(~Exists(items[MAX_SMALL : MAX_SMALL + 1]))


def run_pending(
    worker_id: str,
    stop: Event | None = None,
    *,
    releases: Callable[[], QuerySet[Release]] = Release.objects.all,
) -> int:
    """Do everything that is due for these releases; return the number of steps."""
    set_live(failed_and_live())
    skip_live(held_and_live())
    wake_releases(unknown_and_changed(), clock.now())
    take = partial(claim_due, worker_id, releases)
    return work_through(take, take_step, record_error, stop=stop)


def claim_due(worker_id: str, releases: Callable[[], QuerySet[Release]]) -> Claim[Release] | None:
    return claim_next(releases(), worker_id, clock.now())


def take_step(claim: Claim[Release]) -> None:
    try:
        with claim.renewed():
            wake_at = advance(claim)
        claim.release(wake_at, failures=0)
    except ClaimLostError:
        _logger.info("Release %s was taken by another worker or changed", claim.row.pk)


def record_error(claim: Claim[Release]) -> None:
    with claim.locked() as release:
        wake_at = fail(release)
    claim.release(wake_at)


_active = partial(in_states, ACTIVE)
_others = partial(in_states, tuple(state for state in ReleaseState if state not in ACTIVE))

RUN_RELEASES = WorkerTask(
    partial(run_pending, releases=_active),
    due=(
        partial(earliest, _active),
        # These times are in the past: news about an ended item is due at once.
        lambda: unknown_and_changed().values_list("checked_at", named=True)[:1],
        lambda: failed_and_live().values_list("settled_at", named=True)[:1],
        lambda: held_and_live().values_list("settled_at", named=True)[:1],
    ),
    threads=3,
)
RUN_SMALL_RELEASES = WorkerTask(
    partial(run_pending, releases=small_releases), due=(partial(earliest, small_releases),)
)
"""A thread for small releases, so that they don't wait for large ones due at the same time."""
CHECK_RELEASES = WorkerTask(
    partial(run_pending, releases=_others), due=(partial(earliest, _others),), threads=2
)
"""Reads drafts and held releases for a person, and follows items of ended releases."""
RELEASE_TASKS = (RUN_RELEASES, RUN_SMALL_RELEASES, CHECK_RELEASES)


def is_running(now: datetime) -> bool:
    return WorkerHeartbeat.objects.filter(active_at__gt=now - MISSING_AFTER).exists()


def is_needed() -> bool:
    """Return whether a release is scheduled or running, so that a worker has to run."""
    states = (ReleaseState.SCHEDULED, ReleaseState.RUNNING)
    return Release.objects.filter(state__in=states).exists()
