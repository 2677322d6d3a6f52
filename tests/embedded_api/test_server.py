"""The service on a real server with threads and a database file."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard
from tests.support.processes import free_port, running

ODD_ID = "a/b%2F c?#ü..\n"
MANY = 8
FILL = f"""
from django.core.management import call_command
from tests.support.embedded_api_factories import make_audience, make_page, make_version
import json
call_command("issue_api_key", name="A test")
page = make_page(id={ODD_ID!r})
audiences = [make_audience(page, id=f"aud/{{n}}") for n in range(3)]
versions = [[make_version(audience, n).id for n in range({MANY})] for audience in audiences]
print(json.dumps(versions))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
        "ALLOWED_HOSTS": "127.0.0.1",
        "SECURE_COOKIES": "false",
        "DATABASE_URL": f"sqlite:///{folder / 'dashboard.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "tests.embedded_api.long_queue",
    }


@pytest.fixture(scope="module")
def filled(folder: Path, environment: dict[str, str]) -> tuple[str, str]:
    """A key of the filled database, and the ids of many versions by audience, as JSON."""
    Dashboard(folder, "http://127.0.0.1:1").prepare()
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", FILL]
    key, created = subprocess.check_output(
        command, cwd=BASE_DIR, env=environment, text=True
    ).splitlines()
    return key, created


@pytest.fixture(scope="module")
def versions(filled: tuple[str, str]) -> list[list[str]]:
    created: list[list[str]] = json.loads(filled[1])
    return created


@pytest.fixture(scope="module")
def caller(
    folder: Path, environment: dict[str, str], filled: tuple[str, str]
) -> Iterator[httpx.Client]:
    """An HTTP client of a server with as many threads as callers."""
    key, port = filled[0], free_port()
    command = ["-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    options = ["--threads", str(MANY), "--no-control-socket"]
    server = running(
        command + options, port=port, ready="/health/live", log=folder / "log", env=environment
    )
    headers = {"x-api-key": key}
    with server as at, httpx.Client(base_url=at.url, headers=headers, timeout=30) as client:
        yield client


def encoded(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def publish(caller: httpx.Client, audience: int, version: str, key: str) -> httpx.Response:
    page = f"/v0/pages/{encoded(ODD_ID)}/audiences/{encoded(f'aud/{audience}')}"
    return caller.post(f"{page}/versions/{version}/publish", json={"operationKey": key})


def all_at_once(action: Callable[[Any], Any], arguments: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(MANY) as threads:
        return list(threads.map(action, arguments))


def test_an_id_of_any_characters_passes_a_real_server(caller: httpx.Client) -> None:
    path = f"/v0/pages/{encoded(ODD_ID)}"
    assert caller.get(path).json()["pageId"] == ODD_ID
    audiences = caller.get(f"{path}/audiences").json()["items"]
    assert sorted(item["audienceId"] for item in audiences) == ["aud/0", "aud/1", "aud/2"]


def test_a_key_sent_many_times_at_once_acts_once(
    caller: httpx.Client, versions: list[list[str]]
) -> None:
    version = versions[0][0]
    answers = all_at_once(lambda _: publish(caller, 0, version, "once"), list(range(MANY)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["queuedAt"] for answer in answers}) == 1


def test_a_key_sent_for_many_versions_publishes_one(
    caller: httpx.Client, versions: list[list[str]]
) -> None:
    answers = all_at_once(lambda version: publish(caller, 1, version, "shared"), versions[1])
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (MANY - 1)


def test_of_many_wishes_at_once_one_goes_live(
    caller: httpx.Client, versions: list[list[str]]
) -> None:
    answers = all_at_once(lambda version: publish(caller, 2, version, version), versions[2])
    assert {answer.status_code for answer in answers} == {200}
    read_again = [publish(caller, 2, version, version).json()["status"] for version in versions[2]]
    assert sorted(read_again) == ["cancelled"] * (MANY - 1) + ["queued"]


def test_a_body_in_chunks_is_refused_rather_than_lost(caller: httpx.Client) -> None:
    chunks = iter([b'{"operation', b'Key": "x"}'])
    headers = {"Content-Type": "application/json"}
    assert caller.post("/v0/pages", content=chunks, headers=headers).status_code == 411
