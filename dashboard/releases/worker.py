"""The worker: it does what releases have to have done, one step after another.

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
from typing import TypeAlias

from django.db import Error, close_old_connections, connections
from django.utils import timezone

from dashboard.observability.tracing import flush_spans
from dashboard.releases.claims import ClaimLostError, claim_due
from dashboard.releases.models import Release, ReleaseState, WorkerHeartbeat
from dashboard.releases.running import advance
from dashboard.service.client import close_publishing_client

TICK_S = 1.0
"""Between two looks at the table when nothing is due."""
HEARTBEAT_S = 10.0
MISSING_AFTER = timedelta(seconds=60)
"""Without a heartbeat. Source: DESIGN.md, Releases."""
FORGOTTEN_AFTER = timedelta(days=1)

_logger = logging.getLogger("dashboard.worker")


def new_worker_id() -> str:
    """Return an id that no other worker has: the machine, the process and a random part."""
    return f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"


Task: TypeAlias = Callable[[str, Event], None]
"""What a worker does in a thread of its own until stopped, with its id."""


def run_worker(
    worker_id: str,
    stop: Event,
    *,
    is_orphaned: Callable[[], bool] = lambda: False,
    tasks: Sequence[Task] = (),
) -> None:
    """Work until `stop` is set, or the process that this one belongs to is gone.

    The current step is finished first. Errors of the database are logged, and tried again. The
    `tasks` of other rooms run beside, so that none of them delays a release.
    """
    threads = [
        Thread(target=task, args=(worker_id, stop), name=task.__name__) for task in (_beat, *tasks)
    ]
    for thread in threads:
        thread.start()
    try:
        while not stop.is_set() and not is_orphaned():
            if not _work(worker_id):
                stop.wait(TICK_S)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        close_publishing_client()
        flush_spans()


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


def _work(worker_id: str) -> bool:
    """Do one step, if one is due; return whether another one may follow at once."""
    close_old_connections()
    try:
        return _step(worker_id)
    except Error:
        _logger.exception("The database failed")
        return False


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


def _beat(worker_id: str, stop: Event) -> None:
    """Write a heartbeat now and then, until stopped; then remove it."""
    started_at = timezone.now()
    try:
        while True:
            _try(lambda: _write_heartbeat(worker_id, started_at))
            if stop.wait(HEARTBEAT_S):
                break
        _try(lambda: WorkerHeartbeat.objects.filter(pk=worker_id).delete())
    finally:
        connections.close_all()


def _write_heartbeat(worker_id: str, started_at: datetime) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.update_or_create(
        pk=worker_id,
        defaults={"active_at": now},
        create_defaults={"active_at": now, "started_at": started_at},
    )
    WorkerHeartbeat.objects.filter(active_at__lt=now - FORGOTTEN_AFTER).delete()


def _try(write: Callable[[], object]) -> None:
    close_old_connections()
    try:
        write()
    except Error:
        _logger.exception("The heartbeat could not be written")
