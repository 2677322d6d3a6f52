"""A worker's other tasks delay no release, and finish before the worker ends."""

from threading import Event

import pytest

from dashboard.releases.worker import run_worker
from dashboard.work.tasks import WorkerTask


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_waiting_task_delays_no_release() -> None:
    stop, may_end = Event(), Event()
    looks: list[bool] = []
    ended: list[str] = []

    def slow(worker_id: str, stop: Event) -> None:
        stop.wait(60)
        may_end.wait(60)
        ended.append(worker_id)

    def is_orphaned() -> bool:
        looks.append(may_end.is_set())
        if len(looks) == 2:
            stop.set()
            may_end.set()
        return False

    run_worker("worker-1", stop, is_orphaned=is_orphaned, tasks=[WorkerTask(slow, every_s=60)])
    assert looks == [False, False]
    assert ended == ["worker-1"]
