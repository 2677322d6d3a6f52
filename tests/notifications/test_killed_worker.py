"""Processes killed between an outcome and its delivery: the user is notified all the same.

Once, or at most twice with the same id.
"""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import Envelope, Session

from tests.support.mail_server import MailServer
from tests.support.postgres import own_database
from tests.support.processes import free_port
from tests.support.worker_processes import WorkerDashboard

STATES = "SELECT state FROM notifications_delivery"
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
    dashboard = WorkerDashboard(tmp_path, nowhere, database_url=database_url)
    dashboard.env |= {"EMAIL_URL": server.url, "EMAIL_FROM": "pressroom@kestrel.example"}
    dashboard.prepare()
    assert dashboard.run(FAIL_AND_DIE)[0] == -signal.SIGKILL
    dashboard.run(LET_FIVE_MINUTES_PASS)
    server.start()
    try:
        with dashboard.worker() as server.worker:
            assert server.worker.wait(dashboard.patience_s) == -signal.SIGKILL
        assert server.subjects == ["Publishing version 2 of Hanseatic failed"]
        assert dashboard.execute(STATES) == [("waiting",)]
        dashboard.run(LET_FIVE_MINUTES_PASS)
        with dashboard.worker() as worker:
            dashboard.wait_until(lambda: dashboard.execute(STATES) == [("sent",)])
        assert worker.returncode == os.EX_OK
    finally:
        server.stop()
    assert len(server.received) == 2
    assert len({mail["Message-ID"] for mail in server.received}) == 1
