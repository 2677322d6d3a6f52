"""The worker: it starts a thread for each kind of work that is due, first of all for releases.

What is sent has threads of its own, as the check of a large draft takes minutes. Any number of
workers may run, on any number of machines: a thread claims one release at a time in the database
(`work/claims.py`), and each step resumes from what the database says (`running.py`).
"""

import logging
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Thread
from typing import Any

from django.db import close_old_connections, connections
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.observability.tracing import flush_spans
from dashboard.releases.following import unknown_and_changed, wake_releases
from dashboard.releases.holding import PLANNED, fail
from dashboard.releases.models import Release, ReleaseItem, ReleaseState, WorkerHeartbeat
from dashboard.releases.running import advance
from dashboard.releases.worker_schedule import HEARTBEAT_S, Schedule
from dashboard.service.client import close_publishing_client
from dashboard.work.claims import Claim, ClaimLostError, claim_next
from dashboard.work.tasks import WorkerTask, work_through

MISSING_AFTER = timedelta(seconds=3 * HEARTBEAT_S)
"""Without a heartbeat. Source: DESIGN.md, Releases."""

_logger = logging.getLogger("dashboard.worker")


def new_worker_id() -> str:
    """Return an id that no other worker has: the machine, the process and a random part."""
    return f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"


def run_worker(
    worker_id: str,
    stop: Event,
    *,
    is_orphaned: Callable[[], bool] = lambda: False,
    tasks: Sequence[WorkerTask] = (),
) -> None:
    """Work until `stop` is set, or the process that this one belongs to is gone.

    What is in progress is finished first: a step of a release, and the `tasks` of other rooms. An
    error is logged, and the task is run again at the next check.
    """
    schedule = Schedule(worker_id, (*RELEASE_TASKS, *tasks))
    threads = {
        (task, 0): Thread(target=_repeat, args=(task, worker_id, stop))
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
                        # What another thread is at is due no more.
                        break
            stop.wait(pause_s)
    finally:
        stop.set()
        for thread in threads.values():
            thread.join()
        schedule.close()
        close_publishing_client()
        flush_spans()


def _run(task: WorkerTask, worker_id: str, stop: Event) -> None:
    """Do what is due of a task, once."""
    try:
        _try(task, worker_id, stop)
    finally:
        connections.close_all()


def _repeat(task: WorkerTask, worker_id: str, stop: Event) -> None:
    """Run a task at its interval until stopped, by one connection: a new one takes 2 ms."""
    try:
        while not stop.is_set():
            _try(task, worker_id, stop)
            stop.wait(task.every_s)
    finally:
        connections.close_all()


def _try(task: WorkerTask, worker_id: str, stop: Event) -> None:
    try:
        task.run(worker_id, stop)
    except Exception:
        # A claim ends by itself, and then what was claimed is tried again.
        _logger.exception("A task of the worker failed")
        close_old_connections()


def run_pending(
    worker_id: str, stop: Event | None = None, *, states: Sequence[str] = ReleaseState.values
) -> int:
    """Do all that is due now, of releases in these states; return the number of steps."""
    wake_releases(unknown_and_changed(), timezone.now())
    take = partial(_claim, worker_id, states)
    return work_through(take, _step, _record_error, stop=stop)


def _claim(worker_id: str, states: Sequence[str]) -> Claim[Release] | None:
    releases = Release.objects.filter(state__in=states)
    return claim_next(releases, worker_id, timezone.now())


def _step(claim: Claim[Release]) -> None:
    try:
        with claim.renewed():
            wake_at = advance(claim)
        claim.let_go(wake_at, failures=0)
    except ClaimLostError:
        _logger.info("Release %s was taken by another worker or changed", claim.row.pk)


def _record_error(claim: Claim[Release]) -> None:
    with claim.locked() as release:
        wake_at = fail(release)
    claim.let_go(wake_at)


def earliest_wake(states: Sequence[str]) -> "QuerySet[Release, Any]":
    """Return the time when a release first needs a worker, or when a claim ends."""
    due = Release.objects.filter(wake_at__isnull=False, state__in=states).order_by("wake_at")
    return due.values_list("wake_at", named=True)[:1]


def earliest_change() -> "QuerySet[ReleaseItem, Any]":
    """Return a time in the past if something has become known of an unknown item."""
    return unknown_and_changed().values_list("checked_at", named=True)[:1]


_OTHERS = tuple(state for state in ReleaseState if state not in PLANNED)

RUN_RELEASES = WorkerTask(
    partial(run_pending, states=PLANNED),
    due=(partial(earliest_wake, PLANNED), earliest_change),
    threads=3,
)
CHECK_RELEASES = WorkerTask(
    partial(run_pending, states=_OTHERS), due=(partial(earliest_wake, _OTHERS),), threads=2
)
"""Drafts and held releases are read for a person, and what others have sent is followed."""
RELEASE_TASKS = (RUN_RELEASES, CHECK_RELEASES)


def is_running(now: datetime) -> bool:
    """Return whether a worker was active in the last minute."""
    return WorkerHeartbeat.objects.filter(active_at__gt=now - MISSING_AFTER).exists()


def is_needed() -> bool:
    """Return whether a release is scheduled or running, so that a worker has to run."""
    states = (ReleaseState.SCHEDULED, ReleaseState.RUNNING)
    return Release.objects.filter(state__in=states).exists()
