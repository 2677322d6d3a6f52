"""A dashboard without a server, whose workers run alone and may be killed."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard


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
    def worker(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a worker until the block ends, and let it finish what is in progress."""
        command = [sys.executable, "manage.py", "worker"]
        with (self.folder / "worker.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=BASE_DIR, env=self.env, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(self.patience_s)

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute SQL; return the rows of a query."""
        url = self.env["DATABASE_URL"]
        if url.startswith("sqlite:"):
            with closing(sqlite3.connect(self.database, timeout=20)) as rows, rows:
                return rows.execute(statement).fetchall()
        with psycopg.connect(url) as rows:
            found = rows.execute(statement)  # type: ignore[arg-type]  # our own statement
            return found.fetchall() if found.description else []

    def wait_until(self, has_happened: Callable[[], bool]) -> None:
        """Wait until that has happened; otherwise show the end of the workers' log."""
        deadline = time.monotonic() + self.patience_s
        while not has_happened():
            log = self.folder / "worker.log"
            assert time.monotonic() < deadline, log.read_text()[-3000:] if log.exists() else ""
            time.sleep(0.05)
