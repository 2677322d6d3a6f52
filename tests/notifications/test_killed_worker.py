"""Processes are killed between an event and its delivery; the event is delivered all the same.

Notifications and the built-in API's events are delivered once, or twice with the same id.
"""

import os
import signal
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from aiosmtpd.smtp import Envelope, Session
from standardwebhooks import Webhook

from tests.support.hook_receiver import HookReceiver, Received
from tests.support.mail_server import MailServer
from tests.support.postgres import own_database
from tests.support.processes import Process
from tests.support.worker_processes import WorkerDashboard

PATIENCE_S = 60
FAIL_PUBLISH_AND_DIE = """
import os, signal
from django.conf import settings
from django.contrib.auth.models import User
from dashboard.embedded_api import signing
from dashboard.embedded_api.publishing import publish_version
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.notifications.models import NotificationSettings
from tests.support.embedded_api_factories import make_subscription, make_version

user = User.objects.get()
NotificationSettings.objects.create(user=user, has_digest=False)
target = Target("page_1", "aud_1", "ver_2", 2, target_name="Hanseatic")
kind = OperationKind.PUBLISH_VERSION
_, attempt = begin(operation_key="pr-1", kind=kind, actor=user, target=target, body={{}})
end(attempt, AttemptResult(Outcome.REJECTED))

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
"""Turns the digest off, as from 8 to 12 UTC the worker would also send one with the failure."""
STATES = (
    "SELECT state FROM notifications_delivery",
    "SELECT state FROM embedded_api_webhookdelivery",
)
ITEMS = "SELECT id FROM notifications_deliveryitem"
END_WINDOW = """
UPDATE notifications_deliveryitem SET due_at = (
    SELECT at FROM notifications_event WHERE notifications_event.id = event_id
)
"""
END_CLAIMS = (
    "UPDATE notifications_delivery SET wake_at = created_at",
    "UPDATE embedded_api_webhookdelivery SET wake_at = created_at",
)
"""Ends the claims of the killed worker; otherwise the test would wait for minutes."""


class Killer:
    """Kills the first worker as soon as it is waiting for both responses."""

    worker: Process | None = None

    def __init__(self) -> None:
        self.both_wait = Barrier(2, action=self.kill, timeout=PATIENCE_S)

    def wait(self) -> None:
        """Wait until the first worker has sent both requests; return at once for a later worker."""
        if self.worker:
            self.both_wait.wait()

    def kill(self) -> None:
        assert self.worker
        self.worker.kill()
        self.worker.wait(PATIENCE_S)


class DeadlyMailServer(MailServer):
    """Responds to the first worker only after it is killed."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        response = await super().handle_DATA(server, session, envelope)
        self.killer.wait()
        return response


class DeadlyReceiver(HookReceiver):
    """Responds to the first worker only after it is killed."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()

        class Deadly(list[Received]):
            def append(self, received: Received) -> None:
                super().append(received)
                killer.wait()

        self.received = Deadly()


def test_an_event_outlives_its_process_and_worker(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """`--exhaustive` also uses SQLite."""
    with own_database() as database_url:
        deliver_while_processes_are_killed(tmp_path, database_url)
    if pytestconfig.getoption("exhaustive"):
        (tmp_path / "sqlite").mkdir()
        deliver_while_processes_are_killed(tmp_path / "sqlite", "")


def deliver_while_processes_are_killed(folder: Path, database_url: str) -> None:
    killer = Killer()
    mail, receiver = DeadlyMailServer(killer), DeadlyReceiver(killer)
    dashboard = WorkerDashboard(folder, "", database_url=database_url)
    dashboard.env |= {
        "SERVICE_API_KEY": "",
        "WEBHOOKS_TO_LOOPBACK": "true",
        "EMAIL_URL": mail.url,
        "EMAIL_FROM": "pressroom@kestrel.example",
    }
    dashboard.prepare()
    ended, secret = dashboard.run(FAIL_PUBLISH_AND_DIE.format(url=receiver.url))
    assert ended == -signal.SIGKILL
    mail.start()
    receiver.start()

    def states() -> list[list[tuple[str]]]:
        return [dashboard.execute(query) for query in STATES]

    try:
        with dashboard.worker() as killer.worker:
            dashboard.wait_until(lambda: bool(dashboard.execute(ITEMS)))
            dashboard.execute(END_WINDOW)
            assert killer.worker.wait(PATIENCE_S) == -signal.SIGKILL
        killer.worker = None
        assert states() == [[("waiting",)], [("waiting",)]]
        for claim in END_CLAIMS:
            dashboard.execute(claim)
        with dashboard.worker() as worker:
            dashboard.wait_until(lambda: states() == [[("sent",)], [("delivered",)]])
        assert worker.returncode == os.EX_OK
    finally:
        mail.stop()
        receiver.stop()
    assert mail.subjects == ["Publishing version 2 of Hanseatic failed"] * 2
    assert len({delivery["Message-ID"] for delivery in mail.received}) == 1
    first, second = receiver.received
    for item in (first, second):
        assert Webhook(secret).verify(item.body, item.headers)["type"] == "page.version.published"
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
