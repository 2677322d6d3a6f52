"""`manage.py serve` has a worker beside it, for exactly as long as it serves.

With `--no-worker` it has none: `test_serving.py`. It ends with a server that is stopped:
`test_server_stop.py`.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.dashboards import Dashboard
from tests.support.processes import is_alive

PATIENCE_S = 60


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    """A dashboard with its own database."""
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


def test_a_killed_worker_is_started_again_and_ends_with_a_killed_server(
    dashboard: Dashboard,
) -> None:
    with dashboard.started(has_worker=True) as server:
        wait_for("a worker", dashboard.workers)
        [first] = dashboard.workers()
        os.kill(first, signal.SIGKILL)
        wait_for("another worker", lambda: len(dashboard.workers()) == 2)
        [second] = {*dashboard.workers()} - {first}
        assert is_alive(second)
        os.kill(server.process.pid, signal.SIGKILL)
        wait_for("the end of the worker", lambda: not is_alive(second))
