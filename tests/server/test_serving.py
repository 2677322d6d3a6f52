"""Starting the production server: what prevents it, what it collects, and that it responds."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.templatetags.static import static

from config.environment import BASE_DIR
from dashboard.server.checks import deployment_warnings, environment_warnings
from dashboard.server.static_files import DIGEST_FILE, collect_static, sources_digest
from tests.support.dashboards import Dashboard
from tests.support.processes import NO_TLS, commands_with, free_port
from tests.support.redis import cache_at


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["serve", "worker"])
def test_a_missing_migration_stops_the_start_in_one_sentence(command: str) -> None:
    MigrationRecorder(connection).record_unapplied("web", "0001_groups")
    with pytest.raises(CommandError, match=r"^Migrations are not applied \(1\): run"):
        call_command(command)


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_a_silent_database_stops_the_start(command: str) -> None:
    """PostgreSQL's driver writes several lines. SQLite writes one: see `test_migrations.py`."""
    address = "postgres://postgres@127.0.0.1:1/x"
    run = subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": address},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.startswith("CommandError: DATABASE_URL: the database does not respond (")
    assert len(run.stderr.splitlines()) == 1


def test_an_unwise_setting_is_named_in_one_sentence(settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = False
    (message,) = [
        message for message in deployment_warnings() if "SESSION_COOKIE_SECURE" in message
    ]
    assert message == "SESSION_COOKIE_SECURE is not set to True (security.W012)."


def test_a_variable_for_development_is_warned_of(settings: Any) -> None:
    assert not [warning for warning in deployment_warnings() if "LOOPBACK" in warning]
    settings.WEBHOOKS_TO_LOOPBACK = True
    (warning,) = [warning for warning in deployment_warnings() if "LOOPBACK" in warning]
    assert warning.startswith("WEBHOOKS_TO_LOOPBACK is on, which is for development")


MISTAKES = [
    "SECURE_COOKIE is not a Pressroom variable and has no effect",
    "ALLOWED_HOSTS: * allows any host",
    "CACHE_URL: the cache does not respond",
]


def test_environment_mistakes_are_reported_at_the_start(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECURE_COOKIE", "false")
    settings.ALLOWED_HOSTS = ["*"]
    settings.CACHES = cache_at("redis://127.0.0.1:9/0")
    lines = environment_warnings()
    assert len(lines) == len(MISTAKES), lines
    assert [line[: len(message)] for line, message in zip(lines, MISTAKES, strict=True)] == MISTAKES


@pytest.fixture
def source(settings: Any, tmp_path: Path) -> Path:
    (source := tmp_path / "source").mkdir()
    (source / "new.css").write_text("p {}")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STORAGES = {"staticfiles": {"BACKEND": "dashboard.server.static_files.StaticFiles"}}
    return source


def test_static_files_are_collected_when_missing_or_changed(source: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "collected" / "staticfiles.json"

    collect_static()
    first = manifest.read_text()
    (source / "new.css").write_text("p {color: red}")
    collect_static()

    assert "new." in first
    assert manifest.read_text() != first


def test_a_new_source_with_an_old_time_is_collected(source: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "collected" / "staticfiles.json"
    collect_static()
    (source / "newer.css").write_text("p {color: red}")
    os.utime(source / "newer.css", (1, 1))
    collect_static()
    assert "newer.css" in manifest.read_text()


def test_what_is_collected_already_is_left_alone(source: Path, tmp_path: Path) -> None:
    collect_static()
    (tmp_path / "collected" / "staticfiles.json").write_text("kept")
    os.utime(source / "new.css")
    collect_static()
    assert (tmp_path / "collected" / "staticfiles.json").read_text() == "kept"


def test_what_the_command_collected_needs_no_writing(source: Path, tmp_path: Path) -> None:
    call_command("collectstatic", interactive=False, verbosity=0)
    os.utime(source / "new.css", (1, 1))
    collect_static()
    assert not (tmp_path / "collected.lock").exists()


CUT_OFF = """
from dashboard.server.static_files import StaticFiles

class CutOff(StaticFiles):
    is_first = True

    def compress_files(self, paths):
        if self.is_first:
            self.is_first = False
            raise KeyboardInterrupt
        return super().compress_files(paths)
"""
"""A storage that is interrupted the first time, right after it has written the manifest."""


def test_what_was_cut_off_while_compressing_is_collected_again(
    source: Path, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cut_off.py").write_text(CUT_OFF)
    monkeypatch.syspath_prepend(tmp_path)
    settings.STORAGES = {"staticfiles": {"BACKEND": "cut_off.CutOff"}}
    (source / "new.css").write_text("p {color: red}" * 100)
    with pytest.raises(KeyboardInterrupt):
        collect_static()
    assert (tmp_path / "collected" / "staticfiles.json").exists()
    collect_static()
    assert [*(tmp_path / "collected").glob("new.*.css.gz")]


@pytest.mark.usefixtures("source")
def test_who_waited_for_another_to_collect_knows_the_files(tmp_path: Path) -> None:
    with (tmp_path / "collected.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = Thread(target=collect_static)
        waiting.start()
        while waiting.is_alive() and not is_waited_for(lock.fileno()):
            time.sleep(0.01)
        another = ManifestStaticFilesStorage(location=tmp_path / "collected")
        collected = another.save("new.css", ContentFile("p {}"))
        [*another.post_process({collected: (another, collected)})]
        (tmp_path / "collected" / DIGEST_FILE).write_text(sources_digest())
    waiting.join()

    assert re.fullmatch(r"/?static/new\.\w+\.css", static("new.css"))


def is_waited_for(lock: int) -> bool:
    """Return whether another thread is waiting for a lock that this one holds."""
    of_lock = f":{os.fstat(lock).st_ino} "
    locks = Path("/proc/locks").read_text().splitlines()
    return any("->" in lock and of_lock in lock for lock in locks)


def test_a_dry_run_forgets_nothing(source: Path, tmp_path: Path) -> None:
    collect_static()
    call_command("collectstatic", interactive=False, verbosity=0, dry_run=True)
    assert (tmp_path / "collected" / DIGEST_FILE).read_text() == sources_digest()


def test_the_long_forms_of_files_are_not_collected(source: Path, settings: Any) -> None:
    (source / "htmx-2.js").touch()
    (source / "htmx-2.min.js").touch()
    collect_static()
    assert not [*settings.STATIC_ROOT.glob("htmx-2.????????????.js")]
    assert [*settings.STATIC_ROOT.glob("htmx-2.min.*.js")]


def test_the_server_runs_without_a_worker_and_stops(tmp_path: Path) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/dashboard.sqlite3",
        # As on most machines, output to a pipe is buffered.
        "PYTHONUNBUFFERED": "",
        # Gunicorn reads it on import and would fail.
        "WEB_CONCURRENCY": "abc",
    }
    Dashboard(tmp_path, "http://127.0.0.1:1").prepare()
    manage = [sys.executable, str(BASE_DIR / "manage.py")]
    size = ["--processes=1", "--threads=2", "--no-worker"]
    serving = [*manage, "serve", f"--port={port}", *size]
    with subprocess.Popen(serving, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        line = server.stdout.readline()
        alive = httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=20, verify=NO_TLS)
        misleading = {"SCRIPT_NAME": "/elsewhere"}
        address = f"http://127.0.0.1:{port}/elsewhere/health/live"
        workers = commands_with(f"--parent={server.pid}")
        misled = httpx.get(address, headers=misleading, timeout=20, verify=NO_TLS)
        server.send_signal(signal.SIGTERM)
        # It stops at once if nothing is in progress; otherwise it waits for up to 90 s.
        code = server.wait(timeout=40)

    assert line == f"Pressroom is running on http://127.0.0.1:{port}/. Press Ctrl+C to stop.\n"
    assert alive.status_code == 200
    assert workers == []
    assert misled.status_code == 404
    assert code == 0
