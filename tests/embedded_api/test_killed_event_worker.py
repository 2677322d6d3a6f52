"""Processes killed between a state and its delivery: the event is delivered all the same.

At most twice, with the same id, and to a receiver in another process.
"""

import signal
import subprocess
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from tests.support.hook_receiver import HookReceiver, Received
from tests.support.postgres import own_database
from tests.support.worker_processes import WorkerDashboard

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
STATES = "SELECT state FROM embedded_api_webhookdelivery"
END_CLAIM = "UPDATE embedded_api_webhookdelivery SET next_attempt_at = created_at"
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
    dashboard = WorkerDashboard(folder, "http://127.0.0.1:1", database_url=database_url)
    dashboard.prepare()
    dashboard.env |= {"SERVICE_URL": "", "SERVICE_API_KEY": "", "WEBHOOKS_TO_LOOPBACK": "true"}
    ended, secret = dashboard.run(PUBLISH_AND_DIE.format(url=receiver.url))
    assert ended == -signal.SIGKILL
    receiver.start()
    try:
        with dashboard.worker() as receiver.worker:
            assert receiver.worker.wait(PATIENCE_S) == -signal.SIGKILL
        assert dashboard.execute(STATES) == [("waiting",)]
        dashboard.execute(END_CLAIM)
        with dashboard.worker():
            dashboard.wait_until(lambda: dashboard.execute(STATES) == [("delivered",)])
    finally:
        receiver.stop()
    first, second = receiver.received
    for each in (first, second):
        assert Webhook(secret).verify(each.body, each.headers)["type"] == "page.version.published"
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
