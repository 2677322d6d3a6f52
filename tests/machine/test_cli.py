"""The command line: exit codes, output, the token, and the wheel that a server builds."""

import ast
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from config.settings import BASE_DIR
from dashboard.clock import CLAIM
from dashboard.machine.cli import VERSION, __main__, client
from dashboard.machine.models import KeyedRequest, MachinePlan
from dashboard.machine.wheel import WHEEL_NAME
from tests.support.machines import JsonInterface, new_token
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences

Run = Callable[..., int]
README = (BASE_DIR / "dashboard" / "machine" / "README.md").read_text()
PIPELINES = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
EXIT_CODES = {int(code): text for code, text in re.findall(r"^\| (\d) \| (.*) \|$", README, re.M)}


class InProcess(httpx.BaseTransport):
    """Hands requests to the application.

    The first `fail` of them get no response, or that of a proxy.
    """

    def __init__(self) -> None:
        self.fail = 0
        self.has_proxy = False
        self.keys: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response of the application."""
        self.keys += [request.headers["Idempotency-Key"]] if request.method == "POST" else []
        if self.fail:
            self.fail -= 1
            if self.has_proxy:
                return httpx.Response(502, html="<h1>Bad Gateway</h1>")
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
def transport(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcess]:
    """The wire between the command line and the application."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("PRESSROOM_URL", "http://testserver")
    # --debug logs requests for as long as the process runs: here, in all later tests.
    level, handlers = client.logger.level, [*client.logger.handlers]
    yield InProcess()
    client.logger.setLevel(level)
    client.logger.handlers = handlers


@pytest.fixture
def run(transport: InProcess, paula: User, key: Key, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a token of Paula's, and returns its exit code."""
    monkeypatch.setenv("PRESSROOM_TOKEN", new_token(paula))
    return lambda *arguments: __main__.main([str(argument) for argument in arguments], transport)


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
    for arguments in (["diff", "no-slash"], ["wait", plan, "--timeout", "nan"]):
        with pytest.raises(SystemExit) as usage:
            run(*arguments)
        assert usage.value.code == 2
    service.go_live(key, service.audiences[key]["latestVersion"]["versionId"])
    assert run("diff", target) == 0


def test_the_exit_codes_are_documented() -> None:
    codes = {code for code, _ in __main__.OUTCOMES.values()}
    assert set(EXIT_CODES) == codes | {client.USAGE, client.SIGN_IN, __main__.DIFFERS}
    assert EXIT_CODES[__main__.WAITING] == "waiting for approval"


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_the_pipelines_of_the_readme_wait_for_an_approval(
    pipeline: str, run: Run, key: Key, capsys: pytest.CaptureFixture[str]
) -> None:
    [job] = (jobs := yaml.safe_load(pipeline)).get("jobs", jobs).values()
    assert WHEEL_NAME in pipeline
    plan_it, request_it = re.findall(r"^[ -]*pressroom ((?:.*\\\n)?.*)", pipeline, re.MULTILINE)
    values = {"$PAGE": key[0], "$AUDIENCE": key[1], "> plan.json": ""}
    capsys.readouterr()
    assert run(*words(plan_it, values)) == 0
    plan = json.loads(capsys.readouterr().out)
    values = {"$(jq .plan plan.json)": plan["plan"], "$(jq -r .digest plan.json)": plan["digest"]}
    values |= {"$PLAN": plan["plan"], "3000": "0", "600": "0"}
    code = run(*words(request_it, values))
    assert EXIT_CODES[code] == "waiting for approval"
    assert job.get("allow_failure", {"exit_codes": code}) == {"exit_codes": code}


def words(command: str, values: dict[str, Any]) -> list[str]:
    """Return the words of a command, with values for what a shell expands or waits for."""
    for text, value in {"\\\n": "", **values}.items():
        command = command.replace(text, str(value))
    return shlex.split(command)


def test_diff_compares_the_version_it_is_given(
    run: Run, key: Key, service: PublishingAudiences
) -> None:
    live = service.audiences[key]["publishedVersion"]["versionId"]
    assert run("diff", f"{key[0]}/{key[1]}@{live}") == 0
    assert run("diff", f"{key[0]}/{key[1]}@ver_unknown") == 1


def test_an_unreachable_service_is_a_failure(
    run: Run, key: Key, service: PublishingAudiences
) -> None:
    service.responses[f"/v0/pages/{key[0]}/audiences"] = httpx.ConnectError("away")
    assert run("diff", f"{key[0]}/{key[1]}") == 1
    assert run("plan", f"{key[0]}/{key[1]}") == 1


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_is_only_for_terminals(
    is_terminal: bool,
    run: Run,
    key: Key,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = plan_of(run, key, capsys)
    run("request", plan)
    interface = JsonInterface(os.environ["PRESSROOM_TOKEN"])
    monkeypatch.setattr("time.sleep", lambda _: interface.act("cancel", plan=plan))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert run("wait", plan) == 1
    assert ("Waiting for approval…" in capsys.readouterr().err) == is_terminal


@pytest.mark.parametrize("has_proxy", [False, True])
def test_a_lost_response_is_repeated_with_its_key(
    has_proxy: bool, run: Run, key: Key, transport: InProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    transport.fail, transport.has_proxy = 2, has_proxy
    plan_of(run, key, capsys)
    assert len(transport.keys) == 3
    assert len(set(transport.keys)) == 1
    transport.fail = 3
    assert run("plan", f"{key[0]}/{key[1]}") == 6
    transport.fail = 3
    assert run("find") == 1


class SlowServer(InProcess):
    """Still works on the first change when its response is awaited no longer."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response of the application. The first to a POST is late."""
        response = super().handle_request(request)
        if request.method == "POST" and len(self.keys) == 1:
            unfinished = {"status": None, "body": None, "wake_at": timezone.now() + CLAIM}
            KeyedRequest.objects.update(**unfinished)
            raise httpx.ReadTimeout("late")
        return response


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(("is_finished", "code"), [(True, 0), (False, 6)])
def test_a_change_in_progress_is_not_a_failure(
    is_finished: bool, code: int, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(_: float) -> None:
        if is_finished:
            KeyedRequest.objects.update(wake_at=timezone.now())

    monkeypatch.setattr("time.sleep", pause)
    assert __main__.main(["plan", "/".join(key)], SlowServer()) == code
    assert MachinePlan.objects.count() == 1


def test_an_outage_does_not_end_a_wait(
    run: Run,
    key: Key,
    transport: InProcess,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = plan_of(run, key, capsys)
    run("request", plan)
    transport.fail = 3
    assert run("wait", plan, "--timeout", "0") == 6
    transport.fail = 3
    assert run("status", plan) == 6
    capsys.readouterr()
    interface = JsonInterface(os.environ["PRESSROOM_TOKEN"])
    monkeypatch.setattr("time.sleep", lambda _: interface.act("cancel", plan=plan))
    transport.fail = 4
    assert run("wait", plan) == 1
    assert "Not published" in capsys.readouterr().out


def test_every_page_of_a_response_is_read(
    run: Run, key: Key, capsys: pytest.CaptureFixture[str], service: PublishingAudiences
) -> None:
    keys = service.add(30, effectiveName="Ü" * 300)
    paragraphs = "\n\n".join("word " * 300 for _ in range(40))
    latest = service.audiences[key]["latestVersion"] | {"supplementaryContext": paragraphs}
    service.change(key, latestVersion=latest)
    capsys.readouterr()
    for arguments, field, count in (
        (["find"], "items", 31),
        (["diff", "/".join(key)], "changes", 40),
        (["plan", *map("/".join, keys)], "items", 30),
    ):
        run(*arguments, "--json")
        body = json.loads(capsys.readouterr().out)
        assert (len(body[field]), body["next_cursor"]) == (count, None)
    assert run("status", body["plan"], "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 30


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("PRESSROOM_URL=testserver", 2),
        ("PRESSROOM_URL=http://[::1", 2),
        ("PRESSROOM_URL=ftp://testserver", 2),
        ("PRESSROOM_TOKEN=prt_é", 4),
        ("PRESSROOM_TOKEN=prt_a\nb", 4),
    ],
)
def test_a_bad_setting_is_named(
    setting: str,
    code: int,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(*setting.split("="))
    assert run("find") == code
    assert {2: "PRESSROOM_URL", 4: "token"}[code] in capsys.readouterr().err


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(301, headers={"Location": "https://testserver/"}),
        httpx.Response(200, html="<h1>Another site</h1>"),
        httpx.Response(200, json=["another API"]),
        httpx.Response(404, json={"errors": [{"message": "Not found"}]}),
    ],
)
@pytest.mark.usefixtures("run")
def test_another_site_is_a_wrong_setting(
    response: httpx.Response, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["find"], httpx.MockTransport(lambda _: response)) == 1
    assert "Check PRESSROOM_URL." in capsys.readouterr().err


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
    assert re.search("GET http://testserver/api/1/audiences.* 200", printed)
    assert token not in printed
    assert "\x1b" not in printed


def test_a_name_takes_one_line_and_an_id_can_be_passed_on(
    run: Run, key: Key, capsys: pytest.CaptureFixture[str], service: PublishingAudiences
) -> None:
    [odd] = service.add(page_id="page@2 50%", effectiveName="Ada\npage_1/aud_1  up-to-date  Forged")
    assert run("find", "Forged") == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line == f"page%402%2050%25/{odd[1]}  changed  Ada page_1/aud_1  up-to-date  Forged"
    assert run("plan", line.split()[0]) == 0
    planned = capsys.readouterr().out.splitlines()
    assert not [line for line in planned if line.startswith("page_1")]


def test_a_name_beyond_the_encoding_of_the_output_is_printed(
    run: Run, service: PublishingAudiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.add(effectiveName="Zoë 東京")
    output = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output, encoding="cp1252"))
    assert run("find", "Zoë") == 0
    sys.stdout.flush()
    assert "Zoë ??" in output.getvalue().decode("cp1252")


def test_a_reader_that_stops_does_not_change_the_exit_code(
    run: Run, key: Key, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(run, key, capsys)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        monkeypatch.setattr("sys.stdout", output)
        assert run("request", plan) == 5
        assert run("diff", "/".join(key)) == 3


@pytest.mark.parametrize("retry_after", ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "soon"])
def test_a_retry_after_that_is_no_number_is_ignored(
    retry_after: str, run: Run, transport: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    responses = [httpx.Response(429, json={}, headers={"Retry-After": retry_after})]
    handle_request = transport.handle_request
    monkeypatch.setattr(
        transport,
        "handle_request",
        lambda request: responses.pop() if responses else handle_request(request),
    )
    assert run("find") == 0


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

    class KeyringError(Exception):
        pass

    class Store:
        errors = SimpleNamespace(KeyringError=KeyringError)

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

    def end_input(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("getpass.getpass", end_input)
    assert run("login") == 2
    assert "No token was entered." in capsys.readouterr().err

    def fail(*_: str) -> None:
        raise KeyringError("No backend")

    monkeypatch.setattr(Store, "get_password", fail)
    assert run("find") == 4
    assert "The key store failed: No backend" in capsys.readouterr().err


def test_the_wheel_fits_its_server(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.PUBLIC_URL = "https://pressroom.example.com"
    version = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
    assert version == VERSION
    response = client.get(f"/cli/pressroom_cli-{version}-py3-none-any.whl")
    assert response.status_code == 200
    with zipfile.ZipFile(io.BytesIO(response.content)) as wheel:
        assert wheel.testzip() is None
        assert "https://pressroom.example.com" in wheel.read("pressroom_cli/__init__.py").decode()
        wheel.extractall(tmp_path)
        record = wheel.read(f"pressroom_cli-{version}.dist-info/RECORD").decode()
        assert {line.split(",")[0] for line in record.split()} == set(wheel.namelist())
        scripts = wheel.read(f"pressroom_cli-{version}.dist-info/entry_points.txt").decode()
    assert "pressroom = pressroom_cli.__main__:main" in scripts
    command = [sys.executable, "-m", "pressroom_cli", "diff", "no-slash"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, "isn’t PAGE/AUDIENCE" in ended.stderr) == (2, True)


def test_the_command_line_imports_nothing_of_ours() -> None:
    for path in Path(client.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            roots = {name.split(".")[0] for name in names}
            assert roots <= {*sys.stdlib_module_names, "httpx"}, path


def test_an_operation_without_a_name_is_listed_by_its_title(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"at": "2026-11-25T08:35:00Z", "person": "paula", "by": "", "title": "Publish version 1"}
    body = {"items": [line | {"target": "", "outcome": "Live"}], "next_cursor": None}
    __main__.main(["activity"], httpx.MockTransport(lambda _: httpx.Response(200, json=body)))
    assert capsys.readouterr().out == "2026-11-25T08:35:00  paula  Publish version 1: Live\n"
