"""`manage.py serve` has a worker beside it, for exactly as long as it serves."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.support.dashboards import Dashboard
from tests.support.processes import Running

PATIENCE_S = 60


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    """A dashboard with its own database."""
    dashboard = Dashboard(tmp_path, "http://127.0.0.1:9")
    dashboard.prepare()
    yield dashboard
    for pid in workers(dashboard):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def workers(dashboard: Dashboard) -> list[int]:
    """Return the process ids of the workers with a heartbeat."""
    with closing(sqlite3.connect(dashboard.database, timeout=20)) as rows:
        found = rows.execute("SELECT worker_id FROM releases_workerheartbeat")
        return [int(worker_id.split("-")[-2]) for (worker_id,) in found]


def started_by(server: Running) -> list[str]:
    """Return the commands of the workers that a server has started."""
    option = f"--parent={server.process.pid}"
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(path.read_text().split("\0"))
    return [" ".join(command) for command in commands if option in command]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended may still be listed."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_worker_starts_and_ends_with_the_server(dashboard: Dashboard) -> None:
    with dashboard.started(has_worker=True) as server:
        wait_for(lambda: workers(dashboard))
        [worker] = workers(dashboard)
        assert server.stop() == 0
        assert not is_alive(worker)
        assert not workers(dashboard), "a worker that ends takes its heartbeat with it"


def test_a_killed_worker_is_started_again_and_ends_with_a_killed_server(
    dashboard: Dashboard,
) -> None:
    with dashboard.started(has_worker=True) as server:
        wait_for(lambda: workers(dashboard))
        [first] = workers(dashboard)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: len(workers(dashboard)) == 2)
        [second] = {*workers(dashboard)} - {first}
        assert is_alive(second)
        os.kill(server.process.pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(second))


def test_without_a_worker_none_is_started(dashboard: Dashboard) -> None:
    with dashboard.started(has_worker=False) as server:
        assert started_by(server) == []
    with dashboard.started(has_worker=True) as server:
        wait_for(lambda: len(started_by(server)) == 1)
