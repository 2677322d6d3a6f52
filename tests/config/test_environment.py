"""An invalid or missing variable stops the start with one sentence that names it."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import dj_database_url
import pytest
from django.core import checks
from django.db import connection

from config import environment
from config.environment import BASE_DIR, Environment, misspelt_variables, read_environment

GOOD = {
    "SECRET_KEY": "only-for-tests-0123456789-abcdefghij-klmnopqrst-uvwxyz",
    "ALLOWED_HOSTS": "desk.example",
    "DATABASE_URL": "sqlite://:memory:",
}
PROVIDER = {
    "OIDC_ISSUER": "https://id.example",
    "OIDC_CLIENT_ID": "pressroom",
    "OIDC_CLIENT_SECRET": "secret-of-ours",
    "OIDC_GROUPS": "editors=Publishers, cn=it=Administrators",
}
SERVICE = {"SERVICE_URL": "https://api.example", "SERVICE_API_KEY": "secret-key"}


COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
TURNED_OFF = COLLECTOR | {"OTEL_SDK_DISABLED": "true"}
CHECK_WITHOUT_OPENTELEMETRY = """
import sys
sys.modules["opentelemetry"] = None  # As if it were not installed.
import manage
sys.argv[1:] = ["check", "--deploy", "--fail-level", "WARNING"]
manage.main()
from django.test import Client
print(Client().get("/health/live").status_code)
"""


def start(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run Django's check command and a request with only these variables, without OpenTelemetry."""
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings"}
    return subprocess.run(
        [sys.executable, "-c", CHECK_WITHOUT_OPENTELEMETRY],
        cwd=BASE_DIR,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def sentence_on(**variables: str) -> str:
    """Return the exit message of reading only these variables."""
    with patch.dict(os.environ, variables, clear=True), pytest.raises(SystemExit) as end:
        read_environment()
    return str(end.value)


def read(**variables: str) -> Environment:
    """Read an environment with only the required variables and these."""
    with patch.dict(os.environ, GOOD | variables, clear=True):
        return read_environment()


def test_a_whole_environment_passes_djangos_deploy_check(tmp_path: Path) -> None:
    """Has a provider; CI checks without one. OpenTelemetry is turned off, so it isn't needed."""
    database = tmp_path / "new.sqlite3"
    run = start(**GOOD | PROVIDER | TURNED_OFF | {"DATABASE_URL": f"sqlite:///{database}"})
    assert (run.returncode, run.stderr, run.stdout[-4:]) == (0, "", "200\n"), run.stdout
    assert_that_only_its_owner_may_read(database)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def assert_that_only_its_owner_may_read(database: Path) -> None:
    with closing(sqlite3.connect(database)) as opened:
        opened.executescript("PRAGMA journal_mode=WAL; CREATE TABLE it (a)")
        assert modes(database.parent) == dict.fromkeys(
            ["new.sqlite3", "new.sqlite3-wal", "new.sqlite3-shm"], 0o600
        )


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"SECRET_KEY": "x" * 50}, "SECRET_KEY"),
        ({"SECRET_KEY": "changeme" * 7}, "SECRET_KEY"),
        ({"SECRET_KEY": "0123456789" * 5}, "SECRET_KEY"),
        ({"SECRET_KEY": f"django-insecure-{GOOD['SECRET_KEY']}"}, "SECRET_KEY"),
        ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"),
        ({"DEBUG": "perhaps"}, "DEBUG"),
        ({"SERVICE_URL": "https://api.example"}, "SERVICE_API_KEY"),
        ({"SERVICE_API_KEY": "secret-key"}, "SERVICE_URL"),
        (SERVICE | {"SERVICE_URL": "api.example"}, "SERVICE_URL"),
        (SERVICE | {"SERVICE_URL": "ftp://api.example"}, "SERVICE_URL"),
        (SERVICE | {"SERVICE_URL": "https://me:pw@api.example"}, "SERVICE_URL"),
        *[
            (SERVICE | {"SERVICE_API_KEY": key}, "SERVICE_API_KEY")
            for key in ("é-very-secret-key", " k ", "a\tb", "secret-key\n", " ")
        ],
        ({"SERVICE_TIMEOUT_S": "0"}, "SERVICE_TIMEOUT_S"),
        ({"SERVICE_TIMEOUT_S": "soon"}, "SERVICE_TIMEOUT_S"),
        ({"DATABASE_URL": "unheard-of://host/name"}, "DATABASE_URL"),
        ({"DATABASE_URL": "postgres://host:5432"}, "DATABASE_URL"),
        ({"DATABASE_URL": "mysql://user@host/name"}, "DATABASE_URL"),
        ({"DATABASE_URL": "oracle://user@host/name"}, "DATABASE_URL"),
        ({"DATABASE_URL": "mssql://user@host/name"}, "DATABASE_URL"),
        ({"DATABASE_URL": "spatialite:///name"}, "DATABASE_URL"),
        ({"CACHE_URL": "memcached://x"}, "CACHE_URL"),
        ({"CSRF_TRUSTED_ORIGINS": "desk.example"}, "CSRF_TRUSTED_ORIGINS"),
        ({"EMAIL_URL": "smtp://mail.example"}, "EMAIL_FROM"),
        ({"EMAIL_FROM": "desk@mail.example"}, "EMAIL_URL"),
        *[
            ({"EMAIL_URL": url, "EMAIL_FROM": "desk@mail.example"}, "EMAIL_URL")
            for url in ("mail.example", "http://mail.example", "smtp://", "smtp://a:b", "memory:")
        ],
        *[
            ({"EMAIL_URL": "smtp://mail.example", "EMAIL_FROM": address}, "EMAIL_FROM")
            for address in ("desk", "@mail.example", "a@b\nBcc: c@d", "Desk <>", "x <a@b>, c@d")
        ],
        (
            {"EMAIL_URL": "smtp://a.b", "EMAIL_FROM": "a@b.c", "ALLOWED_HOSTS": ".example"},
            "PUBLIC_URL",
        ),
        ({"PUBLIC_URL": "desk.example"}, "PUBLIC_URL"),
        ({"WEBHOOKS_TO_LOOPBACK": "perhaps"}, "WEBHOOKS_TO_LOOPBACK"),
        ({"LOG_FORMAT": "xml"}, "LOG_FORMAT"),
        ({"ENVIRONMENT_NAME": "   "}, "ENVIRONMENT_NAME"),
        (PROVIDER | {"OIDC_NAME": "   "}, "OIDC_NAME"),
        ({"ENVIRONMENT_NAME": "x" * 21}, "ENVIRONMENT_NAME"),
        ({"ENVIRONMENT_COLOUR": "mauve"}, "ENVIRONMENT_COLOUR"),
        ({"REQUEST_ID_HEADER": "X Request"}, "REQUEST_ID_HEADER"),
        ({"METRICS_TOKEN": "short"}, "METRICS_TOKEN"),
        ({"METRICS_TOKEN": "with a blank in it, alas"}, "METRICS_TOKEN"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
        ({"OIDC_ISSUER": "https://id.example"}, "OIDC_CLIENT_ID"),
        (PROVIDER | {"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET"),
        (PROVIDER | {"OIDC_ISSUER": "http://id.example"}, "OIDC_ISSUER"),
        (PROVIDER | {"OIDC_GROUPS": ""}, "OIDC_GROUPS"),
        (PROVIDER | {"OIDC_GROUPS": "editors=Editors"}, "OIDC_GROUPS"),
        (PROVIDER | {"OIDC_GROUPS": "Publishers"}, "OIDC_GROUPS"),
        (PROVIDER | {"OIDC_ASSURES_SECOND_FACTOR": "perhaps"}, "OIDC_ASSURES_SECOND_FACTOR"),
    ],
)
def test_a_wrong_value_is_reported_in_one_sentence(variables: dict[str, str], named: str) -> None:
    sentence = sentence_on(**GOOD | variables)
    assert named in sentence
    assert len(sentence.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("CACHE_URL", "redis://127.0.0.1:abc/0", "must contain a port from 1 to 65535, or none"),
        ("CACHE_URL", "redis://127.0.0.1:99999/0", "must contain a port from 1 to 65535, or none"),
        ("CACHE_URL", "redis://127.0.0.1:0/0", "must contain a port from 1 to 65535, or none"),
        ("CACHE_URL", "redis://a,b", "must contain one host"),
        ("CACHE_URL", "redis://[::1/0", "must be a URL"),
        ("CACHE_URL", "redis://h/9?foo=1", "must not contain options unknown to the Redis client"),
        (
            "CACHE_URL",
            "redis://h/9?socket_timeout=x",
            "must not contain options unknown to the Redis client",
        ),
        ("CACHE_URL", "redis://127.0.0.1:6379/x", "must end in the number of a database"),
        ("CACHE_URL", "redis://127.0.0.1:6379/1/2", "must end in the number of a database"),
        ("SERVICE_URL", "http://host:abc", "must contain a port from 1 to 65535, or none"),
        ("SERVICE_URL", "http://host:99999", "must contain a port from 1 to 65535, or none"),
        ("SERVICE_URL", "http://x y", "must not contain spaces"),
        ("SERVICE_URL", "http://a..b", "must contain one host"),
        *(
            (name, value, "must contain a host whose name is valid")
            for name, value in {
                "SERVICE_URL": "https://xn--a/",
                "PUBLIC_URL": "https://desk.xn--zzzzzzzz99999",
                "OIDC_ISSUER": "https://xn--0/",
                "CACHE_URL": "redis://xn--a:6379/0",
                "DATABASE_URL": "postgres://xn--a/desk",
                "EMAIL_URL": "smtp://xn--a",
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://xn--a/",
                "CSRF_TRUSTED_ORIGINS": "https://*.xn--a",
            }.items()
        ),
        ("ALLOWED_HOSTS", ".xn--a", ".xn--a must be a host only"),
        ("SERVICE_URL", "https://api.example/v0", "must not include /v0, which is appended"),
        ("SERVICE_URL", "https://api.example/base/v0/", "must not include /v0"),
        ("ALLOWED_HOSTS", "https://127.0.0.1", "https://127.0.0.1 must be a host only"),
        ("ALLOWED_HOSTS", "x.example.com:8000", "x.example.com:8000 must be a host only"),
        ("ALLOWED_HOSTS", "a.example, *.b.example", "*.b.example must be a host only"),
        ("CSRF_TRUSTED_ORIGINS", "https://", "must contain one host"),
        ("CSRF_TRUSTED_ORIGINS", "https://a.example/x", "must end with the host or its port"),
        ("DATABASE_URL", "sqlite:////srv/desk #1/it.sqlite3", "write %23 for # and %3F for ?"),
        ("DATABASE_URL", "sqlite:////srv/what? now/it.sqlite3", "write %23 for # and %3F for ?"),
        ("REQUEST_ID_HEADER", "X Request", "must be a header name"),
        ("METRICS_TOKEN", "short", "must be 16 or more letters"),
    ],
)
def test_an_error_is_reported_in_words(name: str, value: str, reason: str) -> None:
    sentence = sentence_on(**GOOD | SERVICE | {name: value})
    assert sentence.startswith(f"{name}: ")
    assert reason in sentence


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CACHE_URL", "redis://host"),
        ("CACHE_URL", "redis://:p%40ss@host:6379/0"),
        ("CACHE_URL", "rediss://[::1]:6379/3?ssl_cert_reqs=none"),
        ("SERVICE_URL", "http://localhost:8000"),
        ("SERVICE_URL", "https://[::1]:8443/base"),
        ("SERVICE_URL", "https://bücher.example"),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", ".example.com, 127.0.0.1, [::1]"),
    ],
)
def test_a_right_value_is_taken_as_it_is(name: str, value: str) -> None:
    taken = getattr(read(**SERVICE | {name: value}), name.lower())
    assert taken == (value.split(", ") if name == "ALLOWED_HOSTS" else value)


def test_an_origin_is_trusted_as_a_browser_sends_it() -> None:
    written = "https://Desk.example/, https://*.a.example, http://127.0.0.1:8000"
    assert read(CSRF_TRUSTED_ORIGINS=written).csrf_trusted_origins == [
        "https://desk.example",
        "https://*.a.example",
        "http://127.0.0.1:8000",
    ]


def test_a_wrong_value_stops_the_start_with_that_sentence() -> None:
    wrong = GOOD | {"SECRET_KEY": "short"}
    run = start(**wrong)
    assert run.returncode != 0
    assert run.stderr == f"{sentence_on(**wrong)}\n"


def test_each_value_of_the_providers_claim_gives_a_group() -> None:
    environment = read(**PROVIDER)
    assert environment.oidc_groups == [("editors", "Publishers"), ("cn=it", "Administrators")]
    assert "secret-of-ours" not in repr(environment)


def test_neither_repr_nor_str_shows_a_secret() -> None:
    secrets = {
        "SECRET_KEY": GOOD["SECRET_KEY"],
        "SECRET_KEY_FALLBACKS": f"old-{GOOD['SECRET_KEY']}",
        "SERVICE_API_KEY": "secret-key",
        "METRICS_TOKEN": "secret-token-of-16",
        "OIDC_CLIENT_SECRET": PROVIDER["OIDC_CLIENT_SECRET"],
    }
    urls = {
        "DATABASE_URL": "postgres://desk:secret-pw@db/desk",
        "CACHE_URL": "redis://:secret-pw@cache/0",
        "EMAIL_URL": "smtp://desk:secret-pw@mail",
    }
    sender = {"EMAIL_FROM": "desk@desk.example"}
    settings = read(**PROVIDER | SERVICE | sender | secrets | urls)
    for secret in (*secrets.values(), "secret-pw"):
        assert secret not in repr(settings) + str(settings)


def test_no_sentence_and_no_repr_shows_the_service_key() -> None:
    run = start(**GOOD | SERVICE | {"SERVICE_URL": "nonsense"})
    assert "secret-key" not in run.stderr + run.stdout
    assert "secret-key" not in sentence_on(**GOOD | SERVICE | {"SERVICE_API_KEY": "é-secret-key"})
    assert "secret-key" not in repr(Environment.model_construct(service_api_key="secret-key"))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SECURE_COOKIE", "SECURE_COOKIES"),
        ("ENVIRONMENT_COLOR", "ENVIRONMENT_COLOUR"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("SERVICE_KEY", "SERVICE_API_KEY"),
        ("ALLOWED_HOST", "ALLOWED_HOSTS"),
        ("OIDC_CLIENTID", "OIDC_CLIENT_ID"),
    ],
)
def test_a_misspelt_name_is_noticed(name: str, meant: str) -> None:
    with patch.dict(os.environ, GOOD | {name: "x"}, clear=True):
        assert misspelt_variables() == {name: meant}


def test_other_peoples_names_are_left_alone() -> None:
    others = [
        *("PATH", "HOME", "HOSTNAME", "LANG", "PORT", "HTTPS_PROXY", "NO_PROXY", "LOG_LEVEL"),
        *("SERVICE_HOST", "SERVICE_PORT", "TEST_DATABASE_URL", "REDIS_URL", "CACHE_DIR"),
        *("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_SERVICE_NAME", "KUBERNETES_SERVICE_HOST"),
        *("database_url", "DJANGO_SETTINGS_MODULE", "DJANGO_SUPERUSER_PASSWORD"),
    ]
    with patch.dict(os.environ, GOOD | dict.fromkeys(others, "x"), clear=True):
        assert misspelt_variables() == {}


@pytest.mark.parametrize(
    "variables",
    [COLLECTOR, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example/v1/traces"}],
)
def test_a_collector_that_is_wanted_needs_opentelemetry(variables: dict[str, str]) -> None:
    with patch.dict(sys.modules, {"opentelemetry": None}):  # As if it were not installed.
        sentence = sentence_on(**GOOD | variables)
    assert sentence.endswith("tracing is not installed: run uv sync --extra telemetry.")


@pytest.mark.parametrize("variables", [{}, TURNED_OFF])
def test_opentelemetry_is_needed_only_with_a_collector(variables: dict[str, str]) -> None:
    with patch.dict(sys.modules, {"opentelemetry": None}):
        assert not read(**variables).traces


FOLDERS = ("my%20desk", "a%2Fb", "desk #1", "what? now", "100% done")


def test_a_checkout_may_lie_in_any_folder(tmp_path: Path) -> None:
    """All names at once, as nested folders."""
    checkout = tmp_path.joinpath(*FOLDERS)
    shutil.copytree(BASE_DIR / "config", checkout / "config")
    shutil.copy(BASE_DIR / "manage.py", checkout)
    for name in ("dashboard", "templates", "static"):
        (checkout / name).symlink_to(BASE_DIR / name)
    variables = {"PATH": os.environ["PATH"]} | GOOD | {"DATABASE_URL": ""}
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0", "contenttypes"]
    for _ in range(2):
        subprocess.run(command, cwd=checkout, env=variables, check=True, timeout=60)
    assert (checkout / "var" / "pressroom.sqlite3").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [FOLDERS[0]]
    with patch.object(environment, "VAR_DIR", checkout / "var"), patch.dict(os.environ, clear=True):
        environment.use_demo_environment()
        name = dj_database_url.parse(os.environ["DATABASE_URL"])["NAME"]
    assert name == str(checkout / "var" / "demo.sqlite3")


def test_dashboards_on_one_host_have_their_own_cookies() -> None:
    """All processes of one dashboard have the same cookies, regardless of other variables."""
    first, second = "https://desk.example:8443", "https://desk.example:9443"
    others = {"ALLOWED_HOSTS": "10.0.0.7,desk.example", "PORT": "9000"}
    prefix = read(PUBLIC_URL=first).cookie_prefix
    assert prefix != read(PUBLIC_URL=second).cookie_prefix
    assert prefix == read(PUBLIC_URL=f"{first}/", **others).cookie_prefix
    assert read().cookie_prefix == read(**others).cookie_prefix == "pressroom_"


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ([], "http://127.0.0.1:8000"),
        (["--fresh", "--port", "8001"], "http://127.0.0.1:8001"),
        (["--port=8002"], "http://127.0.0.1:8002"),
        (["--port", "nonsense"], None),
        (["--port", "70000"], None),
    ],
)
def test_each_demo_has_cookies_of_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], url: str | None
) -> None:
    monkeypatch.setattr(environment, "VAR_DIR", tmp_path)
    monkeypatch.setattr(sys, "argv", ["manage.py", "demo", *options])
    with patch.dict(os.environ, clear=True):
        environment.use_demo_environment()
        assert os.environ.get("PUBLIC_URL") == url


def test_the_demos_secret_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "VAR_DIR", tmp_path / "var")
    with patch.dict(os.environ):
        environment.use_demo_environment()
    assert modes(tmp_path) == {"var": 0o700}
    assert modes(tmp_path / "var") == {"demo-secret": 0o600}


@pytest.mark.parametrize(("mode", "is_warned_of"), [(0o644, True), (0o640, False)])
def test_a_database_that_all_may_read_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_warned_of: bool
) -> None:
    tmp_path.chmod(0o755)
    database = tmp_path / "old.sqlite3"
    database.touch()
    database.chmod(mode)
    monkeypatch.setitem(connection.settings_dict, "NAME", str(database))
    message = [check.msg for check in checks.run_checks(include_deployment_checks=True)]
    read = [
        item for item in message if f"Every account on this machine can read {database}" in item
    ]
    assert bool(read) == is_warned_of


@pytest.mark.parametrize(
    "url", ["smtp://mail.example", "submission://me:p%40ss@mail.example:587", "smtp://m.e?ssl=true"]
)
@pytest.mark.parametrize("sender", ["desk@mail.example", "Pressroom <desk@mail.example>"])
def test_a_mail_server_and_a_sender_are_read(url: str, sender: str) -> None:
    environment = read(EMAIL_URL=url, EMAIL_FROM=sender)
    assert (environment.email_url, environment.email_from) == (url, sender)


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({}, "https://desk.example"),
        ({"SECURE_COOKIES": "false"}, "http://desk.example"),
        ({"ALLOWED_HOSTS": ".example,desk.other"}, "https://desk.other"),
        ({"ALLOWED_HOSTS": "*"}, ""),
    ],
)
def test_without_a_public_url_links_use_the_first_host(variables: dict[str, str], url: str) -> None:
    assert read(**variables).default_public_url == url
