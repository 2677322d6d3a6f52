"""What the parts share: how much they measure, and how they start servers."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx
from django.core.management import call_command
from django.utils.functional import cached_property

from config.environment import BASE_DIR
from tests.benchmarks.fresh_process import Done, in_fresh_process
from tests.benchmarks.measuring import Side, Site
from tests.benchmarks.world import make_world
from tests.support.dashboards import Dashboard
from tests.support.postgres import own_database
from tests.support.processes import Running, free_port, running

WARMING = 6
SERVED_WITH = ("django", "gunicorn", "whitenoise", "brotli")
"""Packages that peers get in Pressroom's own versions."""
ACCEPTED = "gzip, deflate, br, zstd"  # as Chromium sends it


@dataclass
class Bench:
    """The folder for all files, and how much is measured."""

    folder: Path
    stack: ExitStack
    quick: bool
    postgres: bool
    seed: str

    def __post_init__(self) -> None:
        """Choose the number of turns, of requests per turn, and of rows of each kind."""
        self.rounds, self.requests, self.rows = (3, 10, 2_000) if self.quick else (9, 20, 10_000)

    def take_turns(self, *sides: Side) -> None:
        """Measure each side in each round, after some unmeasured requests."""
        for side in sides * WARMING:
            side.get()
        for side in sides * self.rounds:
            side.take_a_turn(self.requests)

    @cached_property
    def embedded(self) -> Dashboard:
        """A dashboard on SQLite with the built-in API, whose ledger has seen everything."""
        dashboard = self.new_dashboard("embedded")
        in_fresh_process(dashboard.env, make_world, self.rows, self.rows, self.rows)
        crawl(dashboard)
        return dashboard

    @cached_property
    def ours(self) -> Site:
        """Pressroom on that dashboard."""
        return self.serve(self.embedded, processes=2)

    def new_folder(self, name: str) -> Path:
        """Make a folder."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def new_dashboard(self, name: str, service_url: str = "", database_url: str = "") -> Dashboard:
        """Return a dashboard without rows, with the built-in API unless `service_url` is set."""
        dashboard = Dashboard(self.new_folder(name), service_url, database_url=database_url)
        if not service_url:
            # The limit is per minute, and the benchmark makes far more calls than people do.
            dashboard.env |= {"SERVICE_API_KEY": "", "API_CALLS_PER_MINUTE": "100000000"}
        dashboard.prepare()
        return dashboard

    def filled(self, name: str, *rows: int) -> tuple[Dashboard, Done]:
        """Return a dashboard with the rows of `make_world`, and what that took."""
        database_url = self.stack.enter_context(own_database()) if self.postgres else ""
        dashboard = self.new_dashboard(name, database_url=database_url)
        return dashboard, in_fresh_process(dashboard.env, make_world, *rows)

    def serve(self, dashboard: Dashboard, *, processes: int = 1, threads: int = 8) -> Site:
        """Start a dashboard and log in."""
        started = dashboard.started(processes=processes, threads=threads)
        return self.log_in(self.stack.enter_context(started))

    def serve_peer(self, name: str, *packages: str) -> Site:
        """Start a peer on a copy of the rows.

        Raises CalledProcessError if its packages can't be installed.
        """
        folder, port = self.new_folder(name), free_port()
        pins = [f"{package}=={version(package)}" for package in SERVED_WITH]
        added = [f"--with={package}" for package in (*pins, *packages)]
        release = f"--python={sys.version_info.major}.{sys.version_info.minor}"
        isolated = ["uv", "run", "--quiet", "--no-project", "--isolated"]
        python = [*isolated, release, *added, "python"]
        with closing(sqlite3.connect(self.embedded.database)) as rows:
            rows.execute("VACUUM INTO ?", [str(folder / "peer.sqlite3")])
        settings = {"DJANGO_SETTINGS_MODULE": "tests.benchmarks.peers.settings"}
        env = {**os.environ, **settings, "PEER": name, "PEER_FOLDER": str(folder)}
        for command in (["migrate"], ["collectstatic", "--no-input"]):
            prepare = [*python, "-m", "django", *command, "--verbosity=0"]
            subprocess.run(prepare, cwd=BASE_DIR, env=env, check=True, capture_output=True)
        application = "django.core.wsgi:get_wsgi_application()"
        options = [f"--bind=127.0.0.1:{port}", "--workers=2", "--threads=8", "--keep-alive=75"]
        command = ["-m", "gunicorn", application, *options]
        ready, log = "/admin/login/", folder / "log"
        peer = running(command, python=python, port=port, ready=ready, log=log, env=env)
        return self.log_in(self.stack.enter_context(peer), ready)

    def log_in(self, server: Running, path: str = "/accounts/login/", name: str = "root") -> Site:
        """Log in through the form, as a user whose password is their name."""
        headers = {"Referer": f"{server.url}/", "Accept-Encoding": ACCEPTED}
        client = httpx.Client(base_url=server.url, headers=headers, timeout=120)
        self.stack.callback(client.close)
        page = client.get(path, follow_redirects=True).text
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[:1]
        form = {"username": name, "password": name, "csrfmiddlewaretoken": token}
        answer = client.post(path, data=form)
        assert answer.status_code == 302, answer.text
        return Site(server, client)


def crawl(dashboard: Dashboard, *, rate: int = 1_000) -> Done:
    """Crawl the service, so that the ledger records everything it has."""
    return in_fresh_process(dashboard.env, call_command, "crawl", f"--rate={rate}", "--verbosity=0")
