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


def test_a_copy_that_was_made_can_be_restored(tmp_path: Path) -> None:
    """On SQLite. External programs are stubs that print their arguments."""
    tools, root = tmp_path / "tools", tmp_path / "root"
    stub = '#!/bin/sh\necho "$(basename "$0")" "$@"\n'
    copy_with_python = (
        "#!/usr/bin/env python3\nimport sqlite3, sys\nsqlite3.connect(sys.argv[1])"
        ".execute(sys.argv[2])\n"
    )
    install = '#!/bin/sh\ncp "$4" "$5"\n'
    stubs = dict.fromkeys(("systemctl", "pressroom-manage"), stub)
    stubs |= {"sqlite3": copy_with_python, "install": install}
    tools.mkdir()
    for name, text in stubs.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    for folder in ("srv/pressroom/var", "var/backups/pressroom", "etc"):
        (root / folder).mkdir(parents=True)
    (root / "etc" / "pressroom.env").write_text("DATABASE_URL=\n")
    database = root / "srv" / "pressroom" / "var" / "pressroom.sqlite3"

    def write(value: int) -> None:
        with closing(sqlite3.connect(database)) as opened, opened:
            opened.executescript(f"DROP TABLE IF EXISTS it; CREATE TABLE it AS SELECT {value} AS n")

    def run(name: str, *arguments: str) -> str:
        text = (DEPLOY / "bin" / name).read_text()
        for path in ("/srv/pressroom", "/var/backups", "/etc/pressroom.env"):
            text = text.replace(path, f"{root}{path}")
        env = {"PATH": f"{tools}:{os.environ['PATH']}"}
        shell = ["sh", "-c", text, name, *arguments]
        return subprocess.run(shell, check=True, env=env, capture_output=True, text=True).stdout

    write(1)
    run("pressroom-backup")
    (copy,) = (root / "var" / "backups" / "pressroom").iterdir()
    write(2)
    done = run("pressroom-restore", str(copy))
    with closing(sqlite3.connect(database)) as opened:
        assert opened.execute("SELECT n FROM it").fetchone() == (1,)
    assert done.split("\n")[:-1] == [
        "systemctl stop pressroom.socket pressroom pressroom-worker pressroom-nightly",
        "pressroom-manage migrate",
        "pressroom-manage after_restore",
        "systemctl start pressroom",
        "systemctl is-enabled --quiet pressroom-worker",
        "systemctl start pressroom-worker",
        "pressroom-manage crawl",
    ]
