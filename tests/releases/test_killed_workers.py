"""If workers are killed in the middle of a release, another finishes it and sends nothing twice.

Then the release is rolled back: what it published is restored, and the rest is listed.
"""

import json
import os
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from threading import Lock

import httpx
import pytest

from dashboard.releases.models import ItemState
from tests.support.dashboards import over_http
from tests.support.many_audiences import Key
from tests.support.postgres import own_database
from tests.support.release_service import PublishingAudiences, responds
from tests.support.worker_processes import WorkerDashboard

REJECTED, HANGS = ("aud_3", "aud_6", "aud_9"), "aud_5"
LATEST_RELEASE = "SELECT MAX(id) FROM releases_release"

PUBLISH_AND_WORK = """
from django.contrib.auth.models import User
from django.core.management import call_command
from dashboard.releases import checking, decisions, drafting, reviewing
from dashboard.service.reading import read_audiences, read_page
read_page("page_1")
audiences = read_audiences("page_1").value.items
keys = [("page_1", audience.audience_id) for audience in audiences]
user = User.objects.get()
release = drafting.create_release(name="", note="", audiences=keys, user=user)
checking.check_release(release)
decisions.publish(release, user, str(len(keys)), reviewing.board_digest(release))
call_command("worker")
"""
ROLL_BACK = """
import json
from django.contrib.auth.models import User
from dashboard.releases import next_drafts
from dashboard.releases.models import Release
rollback, left_out = next_drafts.roll_back(Release.objects.get(), User.objects.get())
print(json.dumps({item.audience_id: reason for item, reason in left_out}))
"""
"""Starts a rollback, which the workers check and send, and prints what was left out."""


class DeadlyService(PublishingAudiences):
    """Kills the sending worker at half and at three quarters of the publishes."""

    def __init__(self, dashboard: "ReleaseDashboard", count: int) -> None:
        super().__init__(way=self.choose)
        self.dashboard, self.lock = dashboard, Lock()
        self.kills_at, self.killed = (count // 2, count * 3 // 4), list[int]()
        self.add(count)

    def record(self) -> None:
        """Record nothing: the dashboard has a database of its own."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        with self.lock:
            return super().__call__(request)

    def live_versions(self) -> dict[Key, str]:
        """Return the id of each audience's live version."""
        return {
            key: audience["publishedVersion"]["versionId"]
            for key, audience in self.audiences.items()
        }

    def choose(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        if key[1] in REJECTED:
            return responds(409, "It was canceled")(service, key, version_id)
        if key[1] == HANGS:
            time.sleep(self.dashboard.timeout_s + 1)
            raise httpx.ReadError("closed")
        response = httpx.Response(200, json=self.carry_out(key, version_id))
        if self.carried_out.total() in self.kills_at:
            pid = self.dashboard.sending_process()
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)
        return response


class ReleaseDashboard(WorkerDashboard):
    """A dashboard whose workers publish a release."""

    patience_s = 240
    timeout_s = 3

    def sending_process(self) -> int:
        """Return the process id of the worker that has claimed the release."""
        [(worker_id,)] = self.execute("SELECT worker_id FROM releases_release")
        return int(str(worker_id).split("-")[-2])

    def end_claims(self) -> None:
        """End the claims of killed workers, instead of waiting 15 seconds."""
        self.execute("UPDATE releases_release SET wake_at = created_at WHERE worker_id <> ''")

    def states(self) -> Counter[object]:
        """Return the number of the latest release's items by state."""
        items = f"SELECT state FROM releases_releaseitem WHERE release_id = ({LATEST_RELEASE})"
        return Counter(state for (state,) in self.execute(items))

    def wait_until_finished(self) -> None:
        """Wait until the workers have finished the latest release."""
        query = f"SELECT state FROM releases_release WHERE id = ({LATEST_RELEASE})"
        self.wait_until(lambda: self.execute(query) == [("finished",)])


def test_a_release_survives_two_killed_workers(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """`--exhaustive` takes a hundred versions, and SQLite, too, which takes a minute each."""
    is_exhaustive = pytestconfig.getoption("exhaustive")
    count = 100 if is_exhaustive else 20
    with own_database() as database_url:
        publish_while_workers_are_killed(tmp_path, count, database_url)
    if is_exhaustive:
        (tmp_path / "sqlite").mkdir()
        publish_while_workers_are_killed(tmp_path / "sqlite", count, "")


def publish_while_workers_are_killed(tmp_path: Path, count: int, database_url: str) -> None:
    with ExitStack() as stack:
        dashboard = ReleaseDashboard(tmp_path, "", database_url=database_url, timeout_s=3)
        service = DeadlyService(dashboard, count)
        live_before = service.live_versions()
        dashboard.env["SERVICE_URL"] = stack.enter_context(over_http(service))
        dashboard.prepare()
        stack.enter_context(dashboard.worker("shell", "-v0", "-c", PUBLISH_AND_WORK))
        stack.enter_context(dashboard.worker())
        dashboard.wait_until(lambda: len(service.killed) >= 1)
        dashboard.end_claims()
        dashboard.wait_until(lambda: len(service.killed) >= 2)
        stack.enter_context(dashboard.worker())
        dashboard.end_claims()
        dashboard.wait_until_finished()
        assert dashboard.states() == {
            ItemState.LIVE.value: count - 4,
            ItemState.FAILED.value: 3,
            ItemState.UNKNOWN.value: 1,
        }
        assert len(set(service.killed)) == 2
        assert len(set(service.operation_keys)) == len(service.operation_keys) == count
        assert max(service.carried_out.values()) == 1
        assert service.live_versions() != live_before
        ended, left_out = dashboard.run(ROLL_BACK)
        assert ended == os.EX_OK
        dashboard.wait_until_finished()
        failed, unknown = "It failed, so nothing changed.", "Left out until its outcome is known."
        assert json.loads(left_out) == dict.fromkeys(REJECTED, failed) | {HANGS: unknown}
        assert dashboard.states() == {ItemState.LIVE.value: count - 4}
        assert service.live_versions() == live_before
        assert len(set(service.operation_keys)) == len(service.operation_keys) == 2 * count - 4
