"""Processes killed between a state and its delivery: the event is delivered all the same.

At most twice, with the same id, and to a receiver in another process.
"""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from standardwebhooks import Webhook

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard
from tests.support.hook_receiver import HookReceiver, Received
from tests.support.postgres import own_database

PATIENCE_S = 60
PUBLISH_AND_DIE = """
import os, signal
from django.conf import settings
from dashboard.embedded_api import signing
from dashboard.embedded_api.publishing import publish_version
from tests.support.embedded_api_factories import make_subscription, make_version
settings.EMBEDDED_API_QUEUE_S = settings.EMBEDDED_API_PROCESSING_S = 0
version = make_version()
subscription = make_subscription(url={url!r}, events=["page.version.published"])
print(signing.reveal(subscription.signing_secret), flush=True)
publish_version(
    tenant_id=version.tenant_id, page_id=version.audience.page_id,
    audience_id=version.audience_id, version_id=version.id, operation_key=None,
)
os.kill(os.getpid(), signal.SIGKILL)
"""
DELIVERY = "embedded_api_webhookdelivery"
END_CLAIM = f"UPDATE {DELIVERY} SET next_attempt_at = created_at"
"""A minute would pass in earnest."""


class DeadlyReceiver(HookReceiver):
    """Kills the worker that sends the first webhook, before it gets the response."""

    worker: "subprocess.Popen[bytes] | None" = None

    def __init__(self) -> None:
        super().__init__()
        receiver = self

        class Deadly(list[Received]):
            def append(self, received: Received) -> None:
                super().append(received)
                if receiver.worker and len(self) == 1:
                    receiver.worker.kill()
                    receiver.worker.wait(PATIENCE_S)

        self.received = Deadly()


class EventDashboard(Dashboard):
    """A dashboard with the embedded API, and no server."""

    def run(self, code: str) -> tuple[int, str]:
        """Run code with the ORM in its own process; return how that ended, and its output."""
        command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
        ended = subprocess.run(
            command, cwd=BASE_DIR, env=self.env, timeout=PATIENCE_S, check=False, stdout=-1
        )
        return ended.returncode, ended.stdout.decode().strip()

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

    def execute(self, statement: str) -> list[Any]:
        """Execute SQL; return the rows of a query."""
        url = self.env["DATABASE_URL"]
        if url.startswith("sqlite:"):
            with closing(sqlite3.connect(self.database, timeout=20)) as rows, rows:
                return rows.execute(statement).fetchall()
        with psycopg.connect(url) as rows:
            found = rows.execute(statement)
            return found.fetchall() if found.description else []

    def states(self) -> list[Any]:
        """Return the state of each delivery."""
        return self.execute(f"SELECT state FROM {DELIVERY}")  # our own table


def test_an_event_outlives_its_process_and_the_worker_that_sends_it(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """On PostgreSQL, too, with `--exhaustive`."""
    publish_while_processes_are_killed(tmp_path, "")
    if pytestconfig.getoption("exhaustive"):
        (tmp_path / "postgres").mkdir()
        with own_database() as database_url:
            publish_while_processes_are_killed(tmp_path / "postgres", database_url)


def publish_while_processes_are_killed(folder: Path, database_url: str) -> None:
    receiver = DeadlyReceiver()
    dashboard = EventDashboard(folder, "http://127.0.0.1:1", database_url=database_url)
    dashboard.prepare()
    dashboard.env |= {"SERVICE_URL": "", "SERVICE_API_KEY": "", "WEBHOOKS_TO_LOOPBACK": "true"}
    ended, secret = dashboard.run(PUBLISH_AND_DIE.format(url=receiver.url))
    assert ended == -signal.SIGKILL
    receiver.start()
    try:
        with dashboard.worker() as receiver.worker:
            assert receiver.worker.wait(PATIENCE_S) == -signal.SIGKILL
        assert dashboard.states() == [("waiting",)]
        dashboard.execute(END_CLAIM)
        with dashboard.worker():
            wait_until_delivered(dashboard)
    finally:
        receiver.stop()
    first, second = receiver.received
    for each in (first, second):
        assert Webhook(secret).verify(each.body, each.headers)["type"] == "page.version.published"
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)


def wait_until_delivered(dashboard: EventDashboard) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while dashboard.states() != [("delivered",)]:
        assert time.monotonic() < deadline, (dashboard.folder / "worker.log").read_text()[-3000:]
        time.sleep(0.05)
