"""`manage.py serve` runs a worker for exactly as long as it serves.

`test_serving.py` tests `--no-worker`; `test_server_stop.py` tests that the worker ends with a
stopped server.
"""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.dashboards import Dashboard
from tests.support.processes import is_alive, start

PATIENCE_S = 60


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    dashboard = Dashboard(tmp_path, "http://127.0.0.1:9")
    dashboard.prepare()
    yield dashboard
    for pid in dashboard.workers():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_for(what: str, has_happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not has_happened():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.1)


def children(pid: int) -> set[int]:
    return {*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())}


def test_a_killed_worker_restarts_and_stops_with_the_server(dashboard: Dashboard) -> None:
    with dashboard.started(has_worker=True) as server:
        wait_for("a worker", dashboard.workers)
        [first] = dashboard.workers()
        os.kill(first, signal.SIGKILL)
        wait_for("another worker", lambda: len(dashboard.workers()) == 2)
        [second] = {*dashboard.workers()} - {first}
        assert is_alive(second)
        os.kill(server.process.pid, signal.SIGKILL)
        wait_for("the end of the worker", lambda: not is_alive(second))


def test_a_worker_stops_however_many_signals_arrive(dashboard: Dashboard) -> None:
    log = dashboard.folder / "worker.log"
    log.touch()
    worker = start(["manage.py", "worker"], env=dashboard.env, log=log)
    try:
        wait_for("the worker", lambda: "Press Ctrl+C" in log.read_text())
        for _ in range(200):
            worker.send_signal(signal.SIGTERM)
            worker.send_signal(signal.SIGINT)
        worker.wait(PATIENCE_S)
    finally:
        worker.kill()


def test_a_killed_process_is_replaced_and_logged(dashboard: Dashboard) -> None:
    with dashboard.started() as server:
        [first] = children(server.process.pid)
        os.kill(first, signal.SIGKILL)
        wait_for("another process", lambda: children(server.process.pid) - {first})
        lines = server.log.read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    [line] = [line for line in logged if line["logger"] == "gunicorn.error"]
    assert line["message"].startswith(f"Worker (pid:{first}) was sent SIGKILL!")
