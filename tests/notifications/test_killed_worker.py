"""Processes killed between an outcome and its delivery: the user is notified all the same.

Once, or at most twice with the same id.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiosmtpd.smtp import Envelope, Session

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard
from tests.support.mail_server import MailServer
from tests.support.postgres import own_database
from tests.support.processes import free_port

PATIENCE_S = 60

FAIL_AND_DIE = """
import os, signal
from django.contrib.auth.models import User
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
target = Target("page_1", "aud_1", "ver_2", 2, target_name="Hanseatic")
kind, user = OperationKind.PUBLISH_VERSION, User.objects.get()
_, attempt = begin(operation_key="pr-1", kind=kind, actor=user, target=target, body={})
end(attempt, AttemptResult(Outcome.REJECTED))
os.kill(os.getpid(), signal.SIGKILL)
"""
LET_FIVE_MINUTES_PASS = """
from datetime import timedelta
from django.db.models import F
from dashboard.notifications.models import Delivery, DeliveryItem
pause = timedelta(minutes=5)
DeliveryItem.objects.update(due_at=F("due_at") - pause)
Delivery.objects.update(next_attempt_at=F("next_attempt_at") - pause)
"""
"""The window and the claim end, which would take as long in earnest."""


class DeadlyMailServer(MailServer):
    """Kills the worker that has just sent its first message, before it learns that it arrived."""

    worker: "subprocess.Popen[bytes] | None" = None

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        response = await super().handle_DATA(server, session, envelope)
        if self.worker and len(self.received) == 1:
            self.worker.kill()
        return response


class NotifyingDashboard(Dashboard):
    """A dashboard without a server, whose workers send e-mails."""

    def run(self, code: str) -> int:
        """Run code with the ORM, in a process of its own; return how that ended."""
        command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
        ended = subprocess.run(command, cwd=BASE_DIR, env=self.env, timeout=PATIENCE_S, check=False)
        return ended.returncode

    @contextmanager
    def worker(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a worker until the block ends."""
        command = [sys.executable, "manage.py", "worker"]
        with (self.folder / "worker.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=BASE_DIR, env=self.env, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)

    def states(self) -> list[str]:
        """Return the state of each delivery."""
        query, url = "SELECT state FROM notifications_delivery", self.env["DATABASE_URL"]
        if url.startswith("sqlite:"):
            with closing(sqlite3.connect(self.database, timeout=20)) as connection:
                return [state for (state,) in connection.execute(query)]
        with psycopg.connect(url) as connection:
            return [state for (state,) in connection.execute(query)]


def wait_until(happened: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.05)


def test_an_outcome_outlives_its_process_and_the_worker_that_sends_it(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """On SQLite, too, with `--exhaustive`."""
    with own_database() as database_url:
        notify_while_processes_are_killed(tmp_path, database_url)
    if pytestconfig.getoption("exhaustive"):
        (tmp_path / "sqlite").mkdir()
        notify_while_processes_are_killed(tmp_path / "sqlite", "")


def notify_while_processes_are_killed(tmp_path: Path, database_url: str) -> None:
    server = DeadlyMailServer()
    nowhere = f"http://127.0.0.1:{free_port()}"
    dashboard = NotifyingDashboard(tmp_path, nowhere, database_url=database_url)
    dashboard.env |= {"EMAIL_URL": server.url, "EMAIL_FROM": "pressroom@kestrel.example"}
    dashboard.prepare()
    log = tmp_path / "worker.log"
    assert dashboard.run(FAIL_AND_DIE) == -signal.SIGKILL
    dashboard.run(LET_FIVE_MINUTES_PASS)
    server.start()
    try:
        with dashboard.worker() as server.worker:
            assert server.worker.wait(PATIENCE_S) == -signal.SIGKILL
        assert (server.subjects, dashboard.states()) == (
            ["Publishing version 2 of Hanseatic failed"],
            ["waiting"],
        )
        dashboard.run(LET_FIVE_MINUTES_PASS)
        with dashboard.worker() as worker:
            wait_until(lambda: dashboard.states() == ["sent"], log)
        assert worker.returncode == os.EX_OK
    finally:
        server.stop()
    assert len(server.received) == 2
    assert len({mail["Message-ID"] for mail in server.received}) == 1
