"""Real processes for tests: a demo, a dashboard on some service, that service itself."""

import os
import random
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

import httpx

from config.environment import BASE_DIR
from tests.once import settings

PATIENCE_S = 180
"""A server starts in two seconds, where nothing else runs."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For who asks our servers: to read whom to trust with TLS takes longer than most answers."""


@dataclass
class Running:
    """A process of ours that answers at `url`."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> int:
        """Let it end as an operator does, and return its exit status."""
        self.process.terminate()
        return self.process.wait(60)

    def kill(self) -> None:
        """End it at once, as a power cut would: its workers too."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def free_port() -> int:
    """Return a port nobody listens on, below those the system gives to whoever asks for any.

    One of those could be taken by another test's server before ours listens.
    """
    while True:
        port = random.randrange(10_240, 32_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
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
    """Run a Python command until the block ends; enter once `ready` answers on its port.

    What still runs then is killed: to leave in order takes a server a second of processor time,
    which is for the tests that are about it.
    """
    bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*python, *command],
            cwd=BASE_DIR,
            env=bare | (env or {}),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started = Running(url, process, log)
        try:
            _wait(url + ready, process, log)
            yield started
        finally:
            if process.poll() is None:
                started.kill()


def demo(folder: Path, *options: str, **env: str) -> AbstractContextManager[Running]:
    """Run `manage.py demo` on data of its own in a folder."""
    port = free_port()
    database = f"sqlite:///{folder / 'demo.sqlite3'}"
    return running(
        ["manage.py", "demo", "--port", str(port), *options],
        port=port,
        ready="/health/live",
        log=folder / "demo.log",
        env={"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": settings()} | env,
    )


def fill_as_the_demo_does(database: Path) -> None:
    """Make a file with the data and the accounts of a demo."""
    with TemporaryDirectory() as folder:
        with demo(Path(folder)):
            pass
        with closing(sqlite3.connect(Path(folder) / "demo.sqlite3")) as filled:
            filled.execute("VACUUM INTO ?", [str(database)])


def odd_service(folder: Path) -> AbstractContextManager[Running]:
    """Run the odd service."""
    port = free_port()
    script = str(BASE_DIR / "tests" / "conformance" / "odd_service.py")
    return running([script, str(port)], port=port, ready="/v0/pages", log=folder / "odd.log")


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=5, verify=NO_TLS)
            return
        time.sleep(0.05)
    raise AssertionError(f"Nothing answers at {url}. It said:\n{log.read_text()[-4000:]}")
