"""What the parts of the suite share: servers on one set of rows, started when first asked for."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from config.environment import BASE_DIR
from tests.benchmarks.figures import Unmeasured
from tests.benchmarks.outside_service import OutsideService
from tests.benchmarks.sides import Served, log_in
from tests.benchmarks.world import ROWS, make_world
from tests.support.dashboards import Dashboard, over_http
from tests.support.processes import Running, demo, free_port, running

T = TypeVar("T")

PROCESSES, THREADS = 2, 8
ROOT = {"username": "root", "password": "root"}
PINS = ("django", "gunicorn", "whitenoise", "brotli")
PEERS: Mapping[str, tuple[str, ...]] = {
    "admin": (),
    "unfold": ("django-unfold==0.91.0",),
    "wagtail": ("wagtail==8.0.1",),
}
"""Each peer with what it is installed from, besides what Pressroom serves with itself."""


@dataclass
class Bench:
    """A folder for everything the suite makes, and how long it may take."""

    folder: Path
    stack: ExitStack
    quick: bool = False

    @property
    def rounds(self) -> int:
        """How often each side has its turn."""
        return 3 if self.quick else 9

    @property
    def requests(self) -> int:
        """How many a side answers in one turn."""
        return 12 if self.quick else 20

    @property
    def rows(self) -> int:
        """Pages, audiences and people each."""
        return 2_000 if self.quick else ROWS

    @cached_property
    def database(self) -> Path:
        """The database with the rows and the account of root."""
        dashboard = self.embedded
        dashboard.prepare()
        in_a_fresh_process(make_world, dashboard.env, self.rows)
        return dashboard.database

    @cached_property
    def embedded(self) -> Dashboard:
        """A dashboard on the API it carries."""
        dashboard = Dashboard(self._new_folder("pressroom"), "")
        # The limit is one of a minute, and many a minute's calls are made here in one.
        dashboard.env |= {"SERVICE_API_KEY": "", "API_CALLS_PER_MINUTE": "100000000"}
        return dashboard

    @cached_property
    def ours(self) -> Served:
        """Pressroom, as `manage.py serve` starts it."""
        assert self.database
        return self.serve(self.embedded, processes=PROCESSES)

    @cached_property
    def peers(self) -> dict[str, Served | Unmeasured]:
        """Each peer, or why it is not there."""
        return {name: self._peer(name) for name in PEERS}

    @cached_property
    def service(self) -> OutsideService:
        """A service over HTTP, whose answers can be slowed down."""
        return OutsideService()

    @cached_property
    def service_url(self) -> str:
        """Where that service answers."""
        return self.stack.enter_context(over_http(self.service))

    @cached_property
    def outside(self) -> Served:
        """Pressroom on that service."""
        dashboard = Dashboard(self._new_folder("outside"), self.service_url)
        dashboard.prepare()
        return self.serve(dashboard, processes=PROCESSES)

    @cached_property
    def demo(self) -> Served:
        """The demo, with its weeks of use."""
        server = self.stack.enter_context(demo(self._new_folder("demo")))
        return self._logged_in(server, "/accounts/login/", username="demo", password="demo")

    def database_url(self, name: str) -> str:
        """Return the address of a database that is not there yet."""
        return f"sqlite:///{self.folder / name}.sqlite3"

    def serve(self, dashboard: Dashboard, *, processes: int) -> Served:
        """Start a dashboard and log in."""
        server = self.stack.enter_context(dashboard.started(processes=processes))
        return self._logged_in(server, "/accounts/login/", **ROOT)

    def new_dashboard(self, name: str, service_url: str) -> Dashboard:
        """Return a dashboard with a folder of its own."""
        return Dashboard(self._new_folder(name), service_url)

    def _logged_in(self, server: Running, address: str, **credentials: str) -> Served:
        browser = log_in(server.url, address, **credentials)
        self.stack.callback(browser.close)
        return Served(server, browser)

    def _new_folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def _peer(self, name: str) -> Served | Unmeasured:
        folder, port = self._new_folder(name), free_port()
        copy_database(self.database, folder / "peer.sqlite3")
        # The machine's own say how packages are come by.
        environment = {
            **os.environ,
            "PEER": name,
            "PEER_FOLDER": str(folder),
            "DJANGO_SETTINGS_MODULE": "tests.benchmarks.peers.settings",
        }
        python = python_with(PEERS[name])
        prepared = subprocess.run(
            [*python, "-m", "tests.benchmarks.peers.prepare"],
            cwd=BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if prepared.returncode:
            return Unmeasured(name, " ".join(prepared.stderr.split())[-200:])
        command = ["-m", "gunicorn", "tests.benchmarks.peers.wsgi", f"--bind=127.0.0.1:{port}"]
        options = [f"--workers={PROCESSES}", f"--threads={THREADS}", "--keep-alive=75"]
        server = self.stack.enter_context(
            running(
                [*command, *options, "--log-level=warning"],
                python=python,
                port=port,
                ready="/admin/login/",
                log=folder / "log",
                env=environment,
            )
        )
        return self._logged_in(server, "/admin/login/", **ROOT)


def python_with(packages: tuple[str, ...]) -> list[str]:
    """Return how Python is called in an environment of its own; ours where nothing is added."""
    if not packages:
        return [sys.executable]
    pins = [f"{name}=={version(name)}" for name in PINS]
    added = [f"--with={package}" for package in (*pins, *packages)]
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    isolated = ["uv", "run", "--quiet", "--no-project", "--isolated", f"--python={release}"]
    return [*isolated, *added, "python"]


def copy_database(source: Path, target: Path) -> None:
    """Copy a database that may be in use."""
    with sqlite3.connect(source) as rows, sqlite3.connect(target) as copy:
        rows.backup(copy)
    rows.close()
    copy.close()


def in_a_fresh_process(act: Callable[..., T], *arguments: Any) -> T:
    """Call a function where no settings were read yet, and return what it returns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(act, *arguments).result()
