"""The worker: it starts a thread for each kind of work that is due, first of all for releases.

Any number may run, on any number of machines: each claims one release at a time in the database
(`claims.py`), and each step resumes from what the database says (`running.py`).
"""

import logging
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Event, Thread

from django.db import Error, close_old_connections, connections
from django.utils import timezone

from dashboard.observability.tracing import flush_spans
from dashboard.releases.claims import ClaimLostError, claim_due, earliest_wake
from dashboard.releases.models import Release, ReleaseState, WorkerHeartbeat
from dashboard.releases.running import advance
from dashboard.releases.worker_schedule import Schedule
from dashboard.service.client import close_publishing_client
from dashboard.worker_tasks import WorkerTask

MISSING_AFTER = timedelta(seconds=60)
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
    schedule = Schedule(worker_id, (RUN_RELEASES, *tasks))
    threads = {
        task: Thread(target=_repeat, args=(task, worker_id, stop)) for task in tasks if task.every_s
    }
    for thread in threads.values():
        thread.start()
    try:
        while not stop.is_set() and not is_orphaned():
            due, pause_s = schedule.check()
            for task in due:
                if task not in threads or not threads[task].is_alive():
                    threads[task] = Thread(target=_run, args=(task, worker_id, stop))
                    threads[task].start()
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


def run_pending(worker_id: str) -> int:
    """Do all that is due now, of every release; return the number of steps. For tests, the demo."""
    steps = 0
    while _step(worker_id):
        steps += 1
    return steps


def is_running(now: datetime) -> bool:
    """Return whether a worker was active in the last minute."""
    return WorkerHeartbeat.objects.filter(active_at__gt=now - MISSING_AFTER).exists()


def is_needed() -> bool:
    """Return whether a release is scheduled or running, so that a worker has to run."""
    states = (ReleaseState.SCHEDULED, ReleaseState.RUNNING)
    return Release.objects.filter(state__in=states).exists()


def run_releases(worker_id: str, stop: Event) -> None:
    """Do the steps of releases that are due until stopped."""
    while not stop.is_set() and _step(worker_id):
        pass


RUN_RELEASES = WorkerTask(run_releases, due=(earliest_wake,))


def _step(worker_id: str) -> bool:
    """Do one step of the release that has waited longest; return whether there was one."""
    claim = claim_due(worker_id, timezone.now())
    if claim is None:
        return False
    try:
        claim.let_go(advance(claim))
    except ClaimLostError:
        _logger.info("Release %s was taken by another worker or changed", claim.release_id)
    except Error:
        raise
    except Exception:
        # The claim ends by itself, and then this step is tried again.
        _logger.exception("A step of release %s failed", claim.release_id)
    return True
