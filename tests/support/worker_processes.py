"""A dashboard without a server, whose workers run alone and may be killed."""

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
        """Run code with the ORM in its own process; return how that ended, and its output."""
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
        """Run a worker until the block ends, and let it finish what is in progress.

        Another command of `manage.py` does something before it becomes one.
        """
        arguments = ["manage.py", *(command or ("worker",))]
        process = start(arguments, env=self.env, log=self.folder / "worker.log")
        try:
            yield process
        finally:
            process.terminate()
            process.wait(self.patience_s)

    def wait_until(self, has_happened: Callable[[], bool]) -> None:
        """Wait until that has happened; otherwise show the end of the workers' log."""
        deadline = time.monotonic() + self.patience_s
        while not has_happened():
            log = self.folder / "worker.log"
            assert time.monotonic() < deadline, log.read_text()[-3000:] if log.exists() else ""
            time.sleep(0.05)
