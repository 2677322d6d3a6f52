"""A dashboard without a server, whose workers tests can run and kill."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard
from tests.support.processes import Process, start


class WorkerDashboard(Dashboard):
    """A dashboard without a server, on either database."""

    patience_s = 60

    def run(self, code: str) -> tuple[int, str]:
        """Run code with the ORM in a new process; return its exit status and output."""
        ended = subprocess.run(
            [sys.executable, "manage.py", "shell", "-v0", "-c", code],
            cwd=BASE_DIR,
            env=self.env,
            check=False,
            stdout=subprocess.PIPE,
            text=True,
            timeout=self.patience_s,
        )
        return ended.returncode, ended.stdout.strip()

    @contextmanager
    def worker(self, *command: str) -> Iterator[Process]:
        """Run a worker during the block, and let it finish what is in progress.

        `command` is another command of `manage.py` that becomes a worker after some other work.
        """
        arguments = ["manage.py", *(command or ("worker",))]
        process = start(arguments, env=self.env, log=self.folder / "worker.log")
        try:
            yield process
        finally:
            process.terminate()
            process.wait(self.patience_s)

    def wait_until(self, has_happened: Callable[[], bool]) -> None:
        """Wait until the condition holds. If it never does, fail with the workers' log."""
        deadline = time.monotonic() + self.patience_s
        while not has_happened():
            log = self.folder / "worker.log"
            assert time.monotonic() < deadline, log.read_text()[-3000:] if log.exists() else ""
            time.sleep(0.05)
