"""Dashboards as separate processes, with a service of the test.

Nothing here uses the ORM; data is read over HTTP or by SQL.
"""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import psycopg

from config.environment import BASE_DIR
from tests.support.fake_service import Answer
from tests.support.html import response_text
from tests.support.postgres import copy_database, drop_database, own_database
from tests.support.processes import Running, free_port, migrated_database, running
from tests.support.shared_files import find_made, is_a_run, made_once, settings

INSTALL = """from django.core.management import call_command as run
run("migrate", verbosity=0)
root = {"username": "root", "email": "root@kestrel.example"}
run("createsuperuser", interactive=False, verbosity=0, **root)"""
"""Runs both commands in one process, because starting a process takes a second."""
PREPARED_POSTGRES = "prepared-postgres"
"""File of a run that has the name of the PostgreSQL database to copy."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def over_http(service: Answer) -> Iterator[str]:
    """Serve the service on a local port; yield its URL. A transport error closes the connection."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            url, headers = f"http://service{self.path}", dict(self.headers)
            request = httpx.Request(self.command, url, headers=headers, content=body)
            try:
                response = service(request)
            except httpx.TransportError:
                return  # Close the connection without a response.
            with suppress(OSError):  # The client may have disconnected.
                self.send_response(response.status_code)
                self.send_header("content-length", str(len(response.content)))
                self.end_headers()
                self.wfile.write(response.content)

        do_GET = do_POST = do_PATCH = handle_any  # noqa: N815  # named by http.server

        def log_message(self, *args: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Dashboard:
    """A dashboard with its own database. It can be started repeatedly."""

    def __init__(
        self,
        folder: Path,
        service_url: str,
        *,
        database_url: str = "",
        cache_url: str = "",
        timeout_s: int = 30,
    ) -> None:
        self.folder = folder
        self.database = folder / "dashboard.sqlite3"
        self.starts = 0
        self.env = {
            "DJANGO_SETTINGS_MODULE": settings(),
            "SECRET_KEY": "only-for-tests-" + "x" * 50,
            "ALLOWED_HOSTS": "127.0.0.1",
            "SECURE_COOKIES": "false",
            "DATABASE_URL": database_url or f"sqlite:///{self.database}",
            "CACHE_URL": cache_url,
            "SERVICE_URL": service_url,
            "SERVICE_API_KEY": "a-key-of-the-tests",
            "SERVICE_TIMEOUT_S": str(timeout_s),
            # No crawls, so that a worker calls the service only for the test's subject.
            "CRAWL_RATE": "0",
            "DJANGO_SUPERUSER_PASSWORD": "root",
        }

    def prepare(self) -> None:
        """Create the tables and the superuser root.

        A run of the suite creates them once per kind of database, and copies the result.
        """
        if not is_a_run():
            self._install()
        elif self.is_on_sqlite:
            shutil.copy(made_once("prepared.sqlite3", self._install_in), self.database)
        else:
            prepared = made_once(PREPARED_POSTGRES, self._install_in_postgres)
            copy_database(prepared.read_text(), self.env["DATABASE_URL"])

    def started(
        self,
        *,
        port: int | None = None,
        processes: int = 1,
        threads: int = 8,
        has_worker: bool = False,
    ) -> AbstractContextManager[Running]:
        """Run the dashboard until the block ends. Two servers at once share the database."""
        self.starts += 1
        port = port or free_port()
        size = [f"--processes={processes}", f"--threads={threads}"]
        if not has_worker:
            size.append("--no-worker")
        return running(
            ["manage.py", "serve", f"--port={port}", *size],
            port=port,
            ready="/health/live",
            log=self.folder / f"dashboard-{self.starts}.log",
            env=self.env,
        )

    def lets_a_minute_pass(self) -> None:
        """Date attempts and claims back by a minute, as if it had passed."""
        earlier = "datetime({}, '-1 minute')" if self.is_on_sqlite else "{} - interval '1 minute'"
        self.execute(f"UPDATE ledger_attempt SET sent_at = {earlier.format('sent_at')}")
        self.execute(f"UPDATE releases_release SET wake_at = {earlier.format('wake_at')}")

    def outcomes(self) -> list[str]:
        """Return the outcome of each recorded operation, oldest first."""
        rows = self.execute("SELECT outcome FROM ledger_operation ORDER BY id")
        return [outcome for (outcome,) in rows]

    def workers(self) -> list[int]:
        """Return the process ids of the workers with a heartbeat."""
        rows = self.execute("SELECT worker_id FROM releases_workerheartbeat")
        return [int(worker_id.split("-")[-2]) for (worker_id,) in rows]

    @property
    def is_on_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.env["DATABASE_URL"].startswith("sqlite:")

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute SQL; return the rows of a query."""
        if self.is_on_sqlite:
            with closing(sqlite3.connect(self.database, timeout=20)) as rows, rows:
                return rows.execute(statement).fetchall()
        with psycopg.connect(self.env["DATABASE_URL"]) as rows:
            cursor = rows.execute(statement)  # type: ignore[arg-type]  # our own statement
            return cursor.fetchall() if cursor.description else []

    def _install_in(self, file: Path) -> None:
        shutil.copy(migrated_database(), file)
        self._install(DATABASE_URL=f"sqlite:///{file}")

    def _install_in_postgres(self, file: Path) -> None:
        """Install in a new database and write its name to the file. `drop_prepared` drops it."""
        with own_database(is_kept=True) as url:
            self._install(DATABASE_URL=url)
        file.write_text(url.rpartition("/")[2])

    def _install(self, **env: str) -> None:
        command = [sys.executable, "manage.py", "shell", "-v0", "-c", INSTALL]
        subprocess.run(command, cwd=BASE_DIR, env=self.env | env, check=True)


def drop_prepared() -> None:
    """Drop the PostgreSQL database that the run copied, if there is one."""
    if file := find_made(PREPARED_POSTGRES):
        drop_database(file.read_text())


def hidden(page: httpx.Response, name: str) -> str:
    """Return the value of a hidden field."""
    match = re.search(f'name="{name}" value="([^"]+)"', page.text)
    assert match, response_text(page)
    return match[1]


@contextmanager
def logged_in(dashboard: Running) -> Iterator[httpx.Client]:
    """Yield an HTTP client that is logged in as root."""
    headers = {"Referer": f"{dashboard.url}/"}
    with httpx.Client(
        base_url=dashboard.url, headers=headers, follow_redirects=True, timeout=60
    ) as browser:
        token = hidden(browser.get("/accounts/login/"), "csrfmiddlewaretoken")
        form = {"username": "root", "password": "root", "csrfmiddlewaretoken": token}
        assert "Sign out" in browser.post("/accounts/login/?next=/activity/", data=form).text
        yield browser
