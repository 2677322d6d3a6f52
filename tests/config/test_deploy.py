"""The files of config/deploy and the manual that uses them."""

import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from config.environment import BASE_DIR, Environment, read_environment

DEPLOY = BASE_DIR / "config" / "deploy"
MANUAL = (BASE_DIR / "config" / "README.md").read_text()
SCRIPTS = sorted((DEPLOY / "bin").iterdir())
SERVICES = ["pressroom.service", "pressroom-worker.service"]
MAX_LINES, MAX_COMMANDS = 500, 15
MAX_EXPOSURE = 4.0
"""Exposure on systemd's scale from 0 to 10."""


def test_the_manual_is_short_and_begins_with_fifteen_commands() -> None:
    assert len(MANUAL.splitlines()) <= MAX_LINES
    first = MANUAL[: MANUAL.index("## Variables")]
    (commands,) = re.findall(r"```sh\n(.*?)```", first, re.DOTALL)
    assert len(commands.splitlines()) <= MAX_COMMANDS
    names = re.findall(r"config/[\w./-]+", commands)
    assert len(names) >= 5
    missing = [name for name in names if not (BASE_DIR / name.rstrip("/")).exists()]
    assert missing == []


def test_the_example_of_variables_is_readable_by_all_three(tmp_path: Path) -> None:
    example = (DEPLOY / "pressroom.env.example").read_text()
    # The manual's rule for the lines of this file.
    assert re.search(r"^(?!([A-Z0-9_]+=[A-Za-z0-9_.,:/=?@%+-]*|#.*|)$)", example, re.M) is None
    variables = dict(re.findall(r"^([A-Z_]+)=(.*)$", example, re.MULTILINE))
    assert {name.lower() for name in variables} <= set(Environment.model_fields)
    keys = {"SECRET_KEY": "only-for-tests-0123456789-abcdefghij-klmnopqrst-uvwxyz"}
    with patch.dict(os.environ, variables | keys | {"SERVICE_API_KEY": "a-key"}, clear=True):
        assert read_environment().public_url == "https://pressroom.example.com"


def test_nginx_passes_on_the_port_and_never_gives_up() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert "proxy_set_header Host $http_host;" in text
    (server,) = re.findall(r"^    server (\S+) max_fails=0;$", text, re.MULTILINE)
    assert f"\nListenStream={server}\n" in (DEPLOY / "systemd" / "pressroom.socket").read_text()


@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
def test_nginx_accepts_the_configuration(tmp_path: Path) -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    text = re.sub(r"^ +ssl_certificate.*\n", "", text, flags=re.MULTILINE)
    text = text.replace("listen 443 ssl", "listen 8443").replace("/var/log/nginx", str(tmp_path))
    whole = tmp_path / "nginx.conf"
    # The folders of Debian's package may be missing, or belong to another user.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = " ".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
    whole.write_text(f"pid {tmp_path}/pid; events {{}}\nhttp {{\n{folders}\n{text}\n}}\n")
    run = ["nginx", "-t", "-q", "-e", "stderr", "-c", str(whole)]
    assert subprocess.run(run, capture_output=True, text=True, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("name", SERVICES)
def test_the_services_are_confined(name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager"]
    unit = str(DEPLOY / "systemd" / name)
    verdict = subprocess.run([*command, unit], capture_output=True, text=True, check=False)
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", verdict.stdout)
    assert exposure, verdict.stderr
    assert float(exposure[1]) < MAX_EXPOSURE


@pytest.mark.parametrize("name", SERVICES)
def test_the_services_wait_for_a_database_that_starts_later(name: str) -> None:
    """systemd gives up after five starts in ten seconds. Source: systemd.unit(5)."""
    unit = (DEPLOY / "systemd" / name).read_text()
    assert "\nRestart=on-failure\nRestartSec=5\n" in unit


def test_the_containers_restart_and_finish_a_publish() -> None:
    compose = (DEPLOY / "compose.yaml").read_text()
    for line in ("image: pressroom", "restart: unless-stopped", "stop_grace_period: 100s"):
        assert compose.count(line) == 2


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_can_run(script: Path) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


STUB = '#!/bin/sh\necho "$(basename "$0")" "$@"\n'
STUBS = {
    "systemctl": STUB,
    "pressroom-manage": STUB,
    "setpriv": '#!/bin/sh\nshift 3\nexec "$@"\n',
    "psql": STUB,
    "pg_restore": STUB,
    "sqlite3": (
        "#!/usr/bin/env python3\nimport sqlite3, sys\n"
        "for [cell] in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):\n    print(cell)\n"
    ),
    "install": '#!/bin/sh\ncp "$4" "$5"\n',
}
"""Programs of the scripts. They print their arguments, or do the same without root's rights."""


class Machine:
    """A machine with the scripts, whose database is the SQLite file `database`."""

    def __init__(self, root: Path, database_url: str = "") -> None:
        self.root, self.url = root, database_url
        self.copies = root / "var" / "backups" / "pressroom"
        self.database = root / "srv" / "pressroom" / "var" / "pressroom.sqlite3"
        for folder in ("srv/pressroom/var", "var/backups/pressroom", "etc", "tools"):
            (root / folder).mkdir(parents=True)
        for name, text in STUBS.items():
            (root / "tools" / name).write_text(text)
            (root / "tools" / name).chmod(0o755)
        (root / "etc" / "pressroom.env").write_text(f"DATABASE_URL={database_url}\n")

    def write(self, value: int) -> None:
        with closing(sqlite3.connect(self.database)) as opened, opened:
            opened.executescript(f"DROP TABLE IF EXISTS it; CREATE TABLE it AS SELECT {value} AS n")

    def read(self) -> int:
        with closing(sqlite3.connect(self.database)) as opened:
            [value] = opened.execute("SELECT n FROM it").fetchone()
        return int(value)

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        text = (DEPLOY / "bin" / name).read_text()
        for path in ("/srv/pressroom", "/var/backups", "/etc/pressroom.env"):
            text = text.replace(path, f"{self.root}{path}")
        path = f"{self.root / 'tools'}:{os.environ['PATH']}"
        return subprocess.run(
            ["sh", "-c", text, name, *arguments],
            env={"PATH": path, "DATABASE_URL": self.url},
            check=False,
            capture_output=True,
            text=True,
        )


@pytest.mark.parametrize("name", ["pressroom", "another"])
def test_a_copy_that_was_made_can_be_restored(tmp_path: Path, name: str) -> None:
    """Of the default SQLite file, and of one that DATABASE_URL names."""
    database = tmp_path / "srv" / "pressroom" / "var" / f"{name}.sqlite3"
    machine = Machine(tmp_path, "" if name == "pressroom" else f"sqlite:///{database}")
    machine.database = database
    machine.write(1)
    assert machine.run("pressroom-backup").returncode == 0
    (copy,) = machine.copies.iterdir()
    machine.write(2)
    done = machine.run("pressroom-restore", str(copy))
    assert machine.read() == 1
    assert done.stdout.split("\n")[:-1] == [
        "systemctl stop pressroom.socket pressroom pressroom-worker pressroom-nightly",
        "pressroom-manage migrate",
        "pressroom-manage after_restore",
        "systemctl start pressroom",
        "systemctl is-enabled --quiet pressroom-worker",
        "systemctl start pressroom-worker",
        "pressroom-manage crawl",
    ]


def test_a_missing_database_is_not_backed_up_as_an_empty_one(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.run("pressroom-backup").returncode != 0
    assert not [*machine.copies.iterdir()]


@pytest.mark.parametrize(
    ("database_url", "copy"),
    [
        ("", "missing.sqlite3"),
        ("", "damaged.sqlite3"),
        ("", "of-postgresql.dump"),
        ("postgres://127.0.0.1/pressroom", "missing.dump"),
        ("postgres://127.0.0.1/pressroom", "damaged.sqlite3"),
    ],
)
def test_an_unusable_copy_stops_and_replaces_nothing(
    tmp_path: Path, database_url: str, copy: str
) -> None:
    machine = Machine(tmp_path, database_url)
    machine.write(1)
    if not copy.startswith("missing"):
        (machine.copies / copy).write_text("no database")
    done = machine.run("pressroom-restore", str(machine.copies / copy))
    assert (done.returncode != 0, done.stdout, machine.read()) == (True, "", 1)
