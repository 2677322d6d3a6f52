"""The command line: exit codes, output, the token, and the wheel that a server builds."""

import ast
import io
import json
import os
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.settings import BASE_DIR
from dashboard.machine.cli import VERSION, client, main
from tests.support.machines import new_token
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences

Run = Callable[..., int]


class InProcess(httpx.BaseTransport):
    """Hands requests to the application. The first `fail` of them get no response."""

    def __init__(self) -> None:
        self.fail = 0
        self.keys: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response of the application."""
        self.keys += [request.headers["Idempotency-Key"]] if request.method == "POST" else []
        if self.fail:
            self.fail -= 1
            raise httpx.ConnectError("away")
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        response = Client().generic(
            request.method,
            request.url.raw_path.decode(),
            request.read(),
            content_type=headers.pop("content-type", ""),
            headers=headers,
        )
        return httpx.Response(
            response.status_code, headers=dict(response.headers), content=response.content
        )


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """The wire between the command line and the application."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("PRESSROOM_URL", "http://testserver")
    return InProcess()


@pytest.fixture
def run(transport: InProcess, paula: User, key: Key, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a token of Paula's, and returns its exit code."""
    monkeypatch.setenv("PRESSROOM_TOKEN", new_token(paula))
    return lambda *arguments: main.main([str(argument) for argument in arguments], transport)


def plan_of(run: Run, key: Key, capsys: pytest.CaptureFixture[str]) -> int:
    capsys.readouterr()
    assert run("plan", f"{key[0]}/{key[1]}", "--json") == 0
    return int(json.loads(capsys.readouterr().out)["plan"])


def test_exit_codes_follow_the_outcome(
    run: Run, key: Key, capsys: pytest.CaptureFixture[str], service: PublishingAudiences
) -> None:
    target = f"{key[0]}/{key[1]}"
    assert run("find", "aud") == 0
    assert run("diff", target) == 3
    plan = plan_of(run, key, capsys)
    assert run("status", plan) == 0
    assert run("request", plan) == 5
    assert run("wait", plan, "--timeout", "0") == 5
    assert run("request", plan) == 1
    other = plan_of(run, key, capsys)
    assert run("publish", other, "--wait", "--timeout", "0") == 6
    assert run("status", 99) == 1
    assert run("activity") == 0
    with pytest.raises(SystemExit) as usage:
        run("diff", "no-slash")
    assert usage.value.code == 2
    service.go_live(key, service.audiences[key]["latestVersion"]["versionId"])
    assert run("diff", target) == 0


def test_a_lost_response_is_repeated_with_its_key(
    run: Run, key: Key, transport: InProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    transport.fail = 2
    plan_of(run, key, capsys)
    assert len(transport.keys) == 3
    assert len(set(transport.keys)) == 1
    transport.fail = 3
    assert run("plan", f"{key[0]}/{key[1]}") == 6
    transport.fail = 3
    assert run("find") == 1


def test_a_missing_or_wrong_token_is_a_sign_in(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRESSROOM_TOKEN", "prt_wrong")
    assert run("find") == 4
    monkeypatch.delenv("PRESSROOM_TOKEN")
    assert run("find") == 4
    assert "PRESSROOM_TOKEN" in capsys.readouterr().err


def test_no_output_has_the_token_or_steers_the_terminal(
    run: Run, key: Key, capsys: pytest.CaptureFixture[str], service: PublishingAudiences
) -> None:
    token = os.environ["PRESSROOM_TOKEN"]
    service.change(key, effectiveName="\x1b[2JEvil")
    service.record()
    for arguments in (["--debug", "find"], ["--debug", "status", "99"], ["find", "--json"]):
        run(*arguments)
    printed = "".join(capsys.readouterr())
    assert "GET audiences: 200" in printed
    assert token not in printed
    assert "\x1b" not in printed


def test_a_token_is_never_an_argument(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    token = os.environ["PRESSROOM_TOKEN"]
    for arguments in (["--token", token, "find"], ["find", token], ["login", f"--token={token}"]):
        assert run(*arguments) == 2
    printed = "".join(capsys.readouterr())
    assert "Revoke it" in printed
    assert token not in printed


def test_a_token_is_stored_by_the_key_store(
    run: Run, paula: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored: dict[Any, str] = {}

    class Store:
        @staticmethod
        def set_password(*names: str) -> None:
            stored[names[:2]] = names[2]

        @staticmethod
        def get_password(*names: str) -> str | None:
            return stored.get(names)

    monkeypatch.delenv("PRESSROOM_TOKEN")
    assert run("login") == 2
    monkeypatch.setitem(sys.modules, "keyring", Store)
    token = new_token(paula)
    monkeypatch.setattr("getpass.getpass", lambda _: token)
    assert run("login") == 0
    assert run("find") == 0
    assert token not in "".join(capsys.readouterr())


def test_the_wheel_fits_its_server(client: Client, settings: Any) -> None:
    settings.PUBLIC_URL = "https://pressroom.example.com"
    version = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
    assert version == VERSION
    response = client.get(f"/cli/pressroom_cli-{version}-py3-none-any.whl")
    assert response.status_code == 200
    with zipfile.ZipFile(io.BytesIO(response.content)) as wheel:
        assert wheel.testzip() is None
        assert "https://pressroom.example.com" in wheel.read("pressroom_cli/__init__.py").decode()
        record = wheel.read(f"pressroom_cli-{version}.dist-info/RECORD").decode()
        assert {line.split(",")[0] for line in record.split()} == set(wheel.namelist())


def test_the_command_line_imports_nothing_of_ours() -> None:
    for path in Path(client.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            roots = {name.split(".")[0] for name in names}
            assert roots <= {*sys.stdlib_module_names, "httpx"}, path
