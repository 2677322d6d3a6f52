"""Real processes for tests: a demo, a dashboard, a service."""

import os
import random
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import httpx

from config.environment import BASE_DIR
from tests.support.forked import Forked
from tests.support.shared_files import is_a_run, is_first, made_once, settings

Process: TypeAlias = subprocess.Popen[bytes] | Forked

PATIENCE_S = 180
"""Time for a server to start in seconds. It takes two on an idle machine."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Saves loading the CA certificates, which takes longer than most responses."""


@dataclass
class Running:
    """A running process that serves `url`."""

    url: str
    process: Process
    log: Path

    def stop(self) -> int:
        """Terminate the process; return its exit status."""
        self.process.terminate()
        return self.process.wait(60)

    def kill(self) -> None:
        """Kill the process and its workers at once, as in a power cut."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)


def free_port() -> int:
    """Return an unused port below the system's ephemeral ports, a new one for each call.

    An ephemeral port could be taken by another test's server before ours listens.
    """
    while True:
        port = random.randrange(10_240, 32_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            if is_first(f"port-{port}"):
                return port


@contextmanager
def running(
    command: list[str],
    *,
    port: int,
    ready: str,
    log: Path,
    env: dict[str, str] | None = None,
    python: Sequence[str] = (sys.executable,),
) -> Iterator[Running]:
    """Run a Python command during the block, which starts once the URL path `ready` responds.

    Kills a process that still runs at the end, because a graceful stop takes a second.
    """
    url = f"http://127.0.0.1:{port}"
    log.write_bytes(b"")
    process = start(command, python=python, env=_bare_environment() | (env or {}), log=log)
    started = Running(url, process, log)
    try:
        _wait(url + ready, process, log)
        yield started
    finally:
        if process.poll() is None:
            started.kill()


def start(
    command: Sequence[str],
    *,
    env: dict[str, str],
    log: Path,
    python: Sequence[str] = (sys.executable,),
) -> Process:
    """Start a Python command in a new process session; append its output to the log.

    A run of the suite forks scripts from a process with the libraries loaded.
    """
    is_script = python == (sys.executable,) and not command[0].startswith("-")
    if is_script and is_a_run():
        return Forked(command, env=env, log=log)
    with log.open("ab") as output:
        return subprocess.Popen(
            [*python, *command],
            cwd=BASE_DIR,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _bare_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def is_alive(pid: int) -> bool:
    """Return whether a process runs. One that has ended may still be listed."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def commands_with(option: str) -> list[str]:
    """Return the commands of all running processes that have the option."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(path.read_text().split("\0"))
    return [" ".join(command) for command in commands if option in command]


def demo(folder: Path, *options: str, **env: str) -> AbstractContextManager[Running]:
    """Run `manage.py demo` with its own data in a folder."""
    port = free_port()
    database = f"sqlite:///{folder / 'demo.sqlite3'}"
    return running(
        ["manage.py", "demo", "--port", str(port), *options],
        port=port,
        ready="/health/live",
        log=folder / "demo.log",
        env={"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": settings()} | env,
    )


def migrated_database() -> Path:
    """Return an SQLite file with all tables and rows of migrations, made once per run."""
    return made_once("migrated.sqlite3", _migrate)


def _migrate(database: Path) -> None:
    env = {"DJANGO_SETTINGS_MODULE": "tests.settings", "TEST_DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(command, cwd=BASE_DIR, env=_bare_environment() | env, check=True)


def fill_as_the_demo_does(database: Path) -> None:
    """Create a database file with the data and accounts of a demo."""
    with TemporaryDirectory() as folder:
        shutil.copy(migrated_database(), Path(folder) / "demo.sqlite3")
        with demo(Path(folder)):
            pass
        with closing(sqlite3.connect(Path(folder) / "demo.sqlite3")) as filled:
            filled.execute("VACUUM INTO ?", [str(database)])


def odd_service(folder: Path) -> AbstractContextManager[Running]:
    """Run the service that deviates from the specification."""
    port = free_port()
    script = str(BASE_DIR / "tests" / "conformance" / "odd_service.py")
    return running([script, str(port)], port=port, ready="/v0/pages", log=folder / "odd.log")


def _wait(url: str, process: Process, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=20, verify=NO_TLS)
            return
        time.sleep(0.05)
    raise AssertionError(f"Nothing answers at {url}. It said:\n{log.read_text()[-4000:]}")
