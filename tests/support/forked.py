"""Scripts in processes that are forked from a server with the libraries loaded.

Loading them takes half a second of processor time for each of some seventy processes. Each process
loads what depends on the settings itself, from its own environment.
"""

import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import connection
from pathlib import Path
from threading import Lock

from config.environment import BASE_DIR

LIBRARIES = [
    "config.environment",
    "dashboard.contract.audiences",
    "dashboard.contract.conversations",
    "dashboard.contract.pages",
    "dashboard.contract.webhooks",
    "dashboard.text_diff",
    "cryptography.fernet",
    "cryptography.x509",
    "django.contrib.admin.utils",
    "django.contrib.staticfiles.storage",
    "django.core.handlers.wsgi",
    "django.core.management.commands.runserver",
    "django.db.backends.sqlite3.base",
    "django.forms",
    "django.template.defaulttags",
    "django.views.generic",
    "fido2.server",
    "gunicorn.app.base",
    "gunicorn.workers.gthread",
    "httpx",
    "jinja2",
    "jwt",
    "markdown_it",
    "nh3",
    "psycopg",
    "qrcode",
    "rapidfuzz",
    "requests",
    "sqlparse",
    "standardwebhooks",
    "whitenoise.storage",
    __name__,
]
"""Modules that read neither settings nor the environment on import."""

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(LIBRARIES)


class Forked:
    """A running command, with the methods of `subprocess.Popen` that the suite needs."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], log: Path) -> None:
        arguments = (list(command), dict(env), str(log))
        self._process = _forking.Process(target=_run, args=arguments, daemon=True)
        self._process.start()
        self.pid = self._process.pid or 0
        # Two threads of a test may wait for the end, but the status can be read only once.
        self._lock = Lock()

    @property
    def returncode(self) -> int | None:
        """Exit status; None while it runs."""
        with self._lock:
            return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status; None while it runs."""
        return self.returncode

    def wait(self, timeout_s: float) -> int:
        """Wait until it ends; return the exit status. Raises TimeoutExpired."""
        connection.wait([self._process.sentinel], timeout_s)
        status = self.returncode
        if status is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout_s)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _run(command: list[str], env: dict[str, str], log: str) -> None:
    """Run a script in a new process session, with its output in the log."""
    gc.freeze()  # Nothing loaded so far is garbage.
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    os.close(output)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(BASE_DIR)
    sys.argv[:] = command
    runpy.run_path(command[0], run_name="__main__")
