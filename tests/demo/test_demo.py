"""`manage.py demo`: a ledger as if after weeks of use, and a working first start."""

import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F

from config.environment import BASE_DIR
from dashboard.approvals.models import ApprovalRequest
from dashboard.demo.load import fill, make_accounts, sample_service, subscribe_receiver
from dashboard.encryption import decrypt
from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    Publication,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.objects import LiveStatus
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import (
    live_publication,
    outside_publications,
    rolled_back_by,
)
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.operations.checking import check_outcome
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.service.subscriptions import fetch_subscription
from dashboard.webhooks.receiver import get_receiver, set_signing_secret, switch_receiver
from tests.support.processes import Running, demo, fill_as_the_demo_does, free_port
from tests.support.shared_files import made_once

AS_IT_IS = {"DJANGO_SETTINGS_MODULE": "config.settings"}


@pytest.fixture
def demo_data(db: None, caplog: pytest.LogCaptureFixture) -> None:
    """The demo's database with few people. The requests for its history aren't logged."""
    fill(sample_service(datetime.now(UTC)), people=50, progress=lambda *_: None)
    assert not [record for record in caplog.records if record.levelname == "INFO"]


def days_ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


@pytest.mark.django_db
def test_the_ledger_looks_as_after_weeks_of_use(demo_data: None) -> None:
    coverage = pages_coverage()
    assert (coverage.recorded, coverage.total) == (50, 60)
    assert AudienceRecord.objects.filter(first_seen_at__lt=days_ago(30)).count() > 100
    assert PageRecord.objects.filter(first_seen_at__lt=days_ago(30)).count() > 20
    assert SubscriptionRecord.objects.count() >= 4
    _assert_that_histories_have_gaps()
    _assert_that_operations_ended_in_every_way()
    _assert_that_a_look_settles_the_unknown_one()
    _assert_that_releases_tell_the_same_story()
    _assert_that_versions_published_outside_have_no_operation()
    _assert_that_what_is_live_has_its_publication()
    _assert_that_one_audience_is_rolled_back()


def _assert_that_histories_have_gaps() -> None:
    numbers: dict[str, list[int]] = {}
    rows = VersionRecord.objects.values_list("audience_id", "version_number")
    for audience_id, number in rows.order_by("version_number"):
        numbers.setdefault(audience_id, []).append(number)
    complete = [seen for seen in numbers.values() if seen == list(range(1, len(seen) + 1))]
    assert len(complete) > 100
    assert len(numbers) - len(complete) > 100
    assert max(len(seen) for seen in numbers.values()) > 5


def _assert_that_versions_published_outside_have_no_operation() -> None:
    outside = outside_publications()
    assert len(outside) == 4
    assert outside.filter(seen_at__gt=days_ago(7)).exists()
    version_ids = [publication.version_id for publication in outside]
    assert not Operation.objects.filter(version_id__in=version_ids).exists()


def _assert_that_what_is_live_has_its_publication() -> None:
    live = Publication.objects.filter(ended_at=None)
    ids = set(live.values_list("page_id", "audience_id", "version_id"))
    records = AudienceRecord.objects.exclude(live_version_id="")
    assert ids == set(records.values_list("page_id", "audience_id", "live_version_id"))
    ended = Publication.objects.exclude(ended_at=None)
    assert ended.count() > 100
    assert not ended.filter(ended_at__lt=F("started_at")).exists()
    assert Publication.objects.filter(reason=PublicationReason.PUBLISH).count() > 10


def _assert_that_one_audience_is_rolled_back() -> None:
    [record] = AudienceRecord.objects.filter(live_status=LiveStatus.ROLLED_BACK)
    live = live_publication(record.page_id, record.audience_id)
    assert live
    assert (live.reason, live.actor_name) == (PublicationReason.ROLLBACK, "publisher")
    assert live.note
    assert rolled_back_by(record.page_id, record.audience_id, record.latest_version_id) == live


def _assert_that_operations_ended_in_every_way() -> None:
    operations = Operation.objects.all()
    assert {row.kind for row in operations} == set(OperationKind)
    assert {row.outcome for row in operations} == set(Outcome) - {Outcome.SENDING}
    assert operations.filter(requested_at__lt=days_ago(30)).exists()
    assert operations.filter(requested_at__gt=days_ago(1)).exists()
    assert {"demo", "publisher", "Ingrid Solberg"} <= {row.actor_name for row in operations}
    assert not operations.filter(actor_name="Ingrid Solberg").exclude(actor=None).exists()
    for row in operations.prefetch_related("attempts"):
        assert row.attempts.count() == 1
        assert row.requested_at <= datetime.now(UTC)
        assert (row.settled_at is None) == (row.outcome == Outcome.UNKNOWN)


def _assert_that_a_look_settles_the_unknown_one() -> None:
    (unknown,) = Operation.objects.filter(outcome=Outcome.UNKNOWN)
    assert check_outcome(unknown).outcome == Outcome.ACCEPTED


def _assert_that_releases_tell_the_same_story() -> None:
    states = {release.state: release for release in Release.objects.all()}
    past, held = states[ReleaseState.FINISHED], states[ReleaseState.HELD]
    sent = list(past.items.select_related("operation"))
    assert [item.state for item in sent].count(ItemState.FAILED) == 1
    assert [item.state for item in sent].count(ItemState.LIVE) == len(sent) - 1 > 4
    for item in sent:
        assert item.operation
        assert item.operation.version_id == item.version_id
        assert (item.operation.outcome == Outcome.ACCEPTED) == (item.state == ItemState.LIVE)
        assert item.operation.actor_name == past.owner_name
        assert past.started_at < item.operation.requested_at < past.finished_at
    assert held.hold_reason
    assert held.items.get(state=ItemState.HELD).reason in held.hold_reason
    planned = states[ReleaseState.SCHEDULED]
    assert planned.due_at
    assert timedelta(minutes=55) < planned.due_at - datetime.now(UTC) < timedelta(hours=26)
    assert not planned.needs_check
    waiting = states[ReleaseState.WAITING_FOR_APPROVAL]
    assert waiting.approval
    assert waiting.approval.requested_by_name == "publisher"
    assert waiting.approval.is_open
    by_agent = ApprovalRequest.objects.get(by_program__contains="(agent)")
    assert (by_agent.is_open, by_agent.requested_by_name) == (True, "publisher")
    for item in (*held.items.all(), *planned.items.all(), *waiting.items.all()):
        assert item.digest
        assert item.reviewed_at
        assert not item.operation_key


@pytest.mark.django_db
def test_accounts_may_do_what_their_names_say() -> None:
    accounts = make_accounts()
    assert accounts["demo"].is_superuser
    assert accounts["publisher"].has_perm("ledger.publish_version")
    assert not accounts["publisher"].has_perm("ledger.update_subscription")
    assert not accounts["viewer"].has_perm("ledger.publish_version")


@pytest.mark.django_db
def test_a_start_subscribes_the_receiver_unless_turned_off() -> None:
    make_accounts()
    sample = sample_service(datetime.now(UTC))
    subscribe_receiver(sample, "http://127.0.0.1:1/")
    record = SubscriptionRecord.objects.get(label="Receiver of this demo")
    assert get_receiver().is_on
    switch_receiver(is_on=False, by="demo")
    subscribe_receiver(sample, "http://127.0.0.1:2/")
    assert not get_receiver().is_on
    url = fetch_subscription(record.subscription_id).url
    assert url == f"http://127.0.0.1:2/hooks/{get_receiver().secret}/"


@pytest.mark.django_db
def test_the_receiver_verifies_signatures_until_users_remove_the_secret() -> None:
    make_accounts()
    sample = sample_service(datetime.now(UTC))
    subscribe_receiver(sample, "http://127.0.0.1:1/")
    assert decrypt(get_receiver().signing_secret).startswith("whsec_")
    set_signing_secret("", by="demo")
    subscribe_receiver(sample, "http://127.0.0.1:2/")
    assert get_receiver().signing_secret == ""


def test_making_accounts_again_leaves_a_changed_password_alone(db: None) -> None:
    viewer = make_accounts()["viewer"]
    viewer.set_password("another one")
    viewer.save()
    make_accounts()
    assert User.objects.get(username="viewer").check_password("another one")


def test_a_second_start_keeps_the_data(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The first start is the one that fills the demo of the browser tests.

    With `--exhaustive` it is a separate one, with fewer people and production settings.
    """
    people, env = 5_000, {}
    if pytestconfig.getoption("exhaustive"):
        people, env = 50, AS_IT_IS
        with demo(tmp_path, f"--people={people}", **env) as running:
            assert _people(running) == people
            _assert_that_demo_can_log_in(running)
    else:
        filled = made_once("demo.sqlite3", fill_as_the_demo_does)
        shutil.copy(filled, tmp_path / "demo.sqlite3")
    before = _operations(tmp_path)
    with demo(tmp_path, **env) as running:
        assert _people(running) == people
        _assert_that_the_command_for_machines_works(running)
        _assert_that_demo_can_log_in(running)
        fresh = refusal(tmp_path, "--port", str(free_port()), "--fresh")
        assert "Another demo is using this data" in fresh
        _assert_that_ctrl_c_stops_it_without_a_trace(running)
    assert _operations(tmp_path) == before


def _operations(folder: Path) -> list[tuple[Any, ...]]:
    """Return the recorded operations of a demo. Filling it again would change their times."""
    with closing(sqlite3.connect(folder / "demo.sqlite3")) as database:
        return database.execute(
            "SELECT operation_key, requested_at FROM ledger_operation ORDER BY operation_key"
        ).fetchall()


def _assert_that_ctrl_c_stops_it_without_a_trace(running: Running) -> None:
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) == 0
    assert "Traceback" not in running.log.read_text()


def _people(running: Running) -> int:
    """Return the number of people from the API, with the key that the demo prints."""
    words = running.log.read_text().split()
    key = next(word for word in words if word.startswith("prs_")).rstrip("'")
    answer = httpx.get(f"{running.url}/v0/persons", headers={"x-api-key": key}, timeout=60)
    return int(answer.json()["totalCount"])


def _assert_that_the_command_for_machines_works(running: Running) -> None:
    [line] = re.findall("By machine +(curl .*)", running.log.read_text())
    _, _, header, url = shlex.split(line)
    name, _, value = header.partition(": ")
    response = httpx.get(url, headers={name: value}, timeout=60)
    assert (response.status_code, bool(response.json()["items"])) == (200, True)


def _assert_that_demo_can_log_in(running: Running) -> None:
    with httpx.Client(base_url=running.url, follow_redirects=True, timeout=60) as browser:
        page = browser.get("/accounts/login/")
        token = page.text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"username": "demo", "password": "demo", "csrfmiddlewaretoken": token}
        assert not _session(browser)
        browser.post("/accounts/login/", data=form)
        assert _session(browser)
        _assert_that_all_requests_share_a_cache(running, browser)


def _session(browser: httpx.Client) -> dict[str, str]:
    return {name: value for name, value in browser.cookies.items() if name.endswith("_session")}


def _assert_that_all_requests_share_a_cache(running: Running, browser: httpx.Client) -> None:
    """The service's health is stored only in the cache; filling the demo also calls the service."""
    browser.get("/pages/")
    cookies = _session(browser)
    with ThreadPoolExecutor(10) as threads:  # At once, so that every process gets some requests.
        look = partial(httpx.get, f"{running.url}/find/", cookies=cookies, timeout=60)
        requests = [threads.submit(look) for _ in range(20)]
    pages = [request.result().text for request in requests]
    assert [page for page in pages if "Service operational" not in page] == []


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=f"^Port {port} is unavailable"):
            call_command("demo", port=port)


def refusal(folder: Path, *options: str) -> str:
    """Run a demo that must refuse to start, and return its last sentence."""
    url = f"sqlite:///{folder / 'demo.sqlite3'}"
    done = subprocess.run(
        [sys.executable, "manage.py", "demo", *options],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.django_db
def test_a_database_with_other_accounts_is_left_alone(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_FINDERS = []
    database = tmp_path / "demo.sqlite3"
    database.touch()
    monkeypatch.setitem(connection.settings_dict, "NAME", str(database))
    User.objects.create(username="ingrid")
    with pytest.raises(CommandError, match="DATABASE_URL names a database with accounts that the"):
        call_command("demo", port=free_port(), fresh=True)
    assert database.exists(), "it was deleted, as --fresh does with a demo's"
    assert [user.username for user in User.objects.all()] == ["ingrid"]


def test_another_service_is_refused_by_name_of_the_variable(settings: Any) -> None:
    settings.EMBEDDED_API = False
    with pytest.raises(CommandError, match="SERVICE_URL is set"):
        call_command("demo", port=free_port())
