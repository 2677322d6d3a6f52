"""The health probes of load balancers."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.templatetags.static import static
from django.test import Client
from django.utils import timezone

from dashboard.client import AuthenticationError, ServerError
from dashboard.releases.models import Release, ReleaseState, WorkerHeartbeat
from dashboard.service.client import publishing_client
from tests.support.clock import corrected_by
from tests.support.fake_service import FakeService
from tests.support.redis import cache_at


def test_a_live_process_says_so_without_a_database(client: Client) -> None:
    answer = client.get("/health/live")
    assert (answer.status_code, answer.content) == (200, b"live\n")


def test_a_load_balancer_may_ask_by_address(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    probe = Client(headers={"Host": "10.1.2.3:8000"})
    assert probe.get("/health/live").status_code == 200
    assert Client(headers={"Host": "10.1.2.3:8000"}).get("/", secure=True).status_code == 400


def test_the_icon_is_found_where_browsers_look_for_it(client: Client) -> None:
    response = client.get("/favicon.ico")
    assert (response.status_code, response["Location"]) == (302, static("mark.svg"))


@pytest.mark.django_db
def test_an_older_release_stays_ready_on_a_newer_database(client: Client) -> None:
    MigrationRecorder(connection).record_applied("web", "9999_of_the_next_version")
    assert client.get("/health/ready").status_code == 200


@pytest.mark.django_db
def test_ready_when_database_migrations_and_cache_are_in_order(client: Client) -> None:
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "checks": {"database": "ok", "migrations": "ok", "cache": "ok"},
        "service": "not checked yet",
        "clock": "ok",
        "worker": "not needed",
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seconds", "warning"),
    [
        (-40, "This server’s clock is 40 s ahead of the database’s."),
        (3_600, "This server’s clock is 3,600 s behind the database’s."),
        (2, "ok"),
    ],
)
def test_a_wrong_clock_is_named_and_stays_ready(client: Client, seconds: int, warning: str) -> None:
    with corrected_by(timedelta(seconds=seconds)):
        answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["clock"]) == (200, warning)


@pytest.mark.django_db
@pytest.mark.parametrize("state", [ReleaseState.SCHEDULED, ReleaseState.RUNNING])
def test_a_worker_is_missing_if_a_release_needs_one(client: Client, state: str) -> None:
    now = timezone.now()
    Release.objects.create(name="Prices", created_at=now, state=state)
    beat = WorkerHeartbeat.objects.create(
        worker_id="one", started_at=now, active_at=now - timedelta(seconds=61)
    )
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["worker"]) == (200, "missing")
    beat.active_at = now - timedelta(seconds=50)
    beat.save()
    assert client.get("/health/ready").json()["worker"] == "running"


@pytest.mark.django_db
def test_the_files_of_migrations_are_read_once(
    client: Client, django_assert_num_queries: Any
) -> None:
    client.get("/health/ready")
    with folders_listed() as listed:
        MigrationLoader(None)
    assert any(folder.endswith("migrations") for folder in listed), "what a reading looks like"
    with folders_listed() as listed, django_assert_num_queries(4):
        # Whether the migrations table exists, its rows, whether a worker runs and is needed.
        assert client.get("/health/ready").status_code == 200
    assert listed == []


@contextmanager
def folders_listed() -> Iterator[list[str]]:
    """Yield a list that collects the folders listed during the block."""
    listed: list[str] = []
    _LISTENERS.append(listed)
    try:
        yield listed
    finally:
        _LISTENERS.clear()


_LISTENERS: list[list[str]] = []


def _note(event: str, args: tuple[Any, ...]) -> None:
    if event == "os.listdir":
        for listed in _LISTENERS:
            listed.append(str(args[0]))


sys.addaudithook(_note)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_database_that_cannot_be_written_is_unready(client: Client) -> None:
    setting = (
        "PRAGMA query_only = "
        if connection.vendor == "sqlite"
        else "SET default_transaction_read_only = "
    )
    with connection.cursor() as cursor:
        cursor.execute(setting + "on")
        answer = client.get("/health/ready")
        cursor.execute(setting + "off")
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "failed")
    assert client.get("/health/ready").status_code == 200
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_a_missing_migration_makes_it_unready(client: Client) -> None:
    MigrationRecorder(connection).record_unapplied("web", "0001_groups")
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"] == "failed"


@pytest.mark.django_db
def test_a_cache_that_keeps_nothing_makes_it_unready(client: Client, settings: Any) -> None:
    settings.CACHES = cache_at("redis://127.0.0.1:9")
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["cache"] == "failed"


@pytest.mark.django_db
def test_a_rejected_key_is_logged(client: Client, fake_service: FakeService) -> None:
    fake_service.answers(401)
    with pytest.raises(AuthenticationError):
        publishing_client().people.list()
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["service"]) == (200, "key rejected")


@pytest.mark.django_db
def test_a_failing_service_gets_no_calls(client: Client, fake_service: FakeService) -> None:
    fake_service.answers(500)
    with pytest.raises(ServerError):
        publishing_client().people.list()
    fake_service.sent.clear()

    answer = client.get("/health/ready")

    assert answer.status_code == 200
    assert answer.json()["service"] == "unavailable"
    assert fake_service.sent == []
