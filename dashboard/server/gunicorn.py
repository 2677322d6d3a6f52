"""Run gunicorn with its documented settings and hooks, and the worker of releases beside it."""

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import ceil
from threading import Thread
from typing import Any

from django.conf import settings
from django.db import connections
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from config.environment import BASE_DIR
from dashboard.clock import request_limit
from dashboard.observability.tracing import flush_spans
from dashboard.server.static_files import collect_static

WORKER_RESTART_S = 5.0
"""Pause before the worker of releases is started again. Source: our choice."""
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus-client for the folder in which processes share their counts."""

_logger = logging.getLogger(__name__)


class Server(BaseApplication):  # type: ignore[misc]  # it has no types
    """Gunicorn with our settings. Source: gunicorn's documentation, Custom Application."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        from config.wsgi import application

        return application


class Worker(ThreadWorker):  # type: ignore[misc]  # it has no types
    """Gunicorn's threaded worker, which also refuses connections once it is stopping.

    Gunicorn's own worker keeps the port open until its requests are done, which takes up to 90 s
    during a publish. Clients would wait in vain, and a proxy would try no other machine. No setting
    or hook closes the port.
    """

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  # gunicorn's
        """Accept connections or not. A stopping worker closes the port for good."""
        super().set_accept_enabled(enabled)
        if not self.alive:
            for port in self.sockets:
                port.close()


class ErrorLog(Logger):  # type: ignore[misc]  # it has no types
    """Gunicorn's log of errors. Requests are logged by `access_log_middleware`."""

    def access(self, *_: Any) -> None:
        """Log no request. Because of LOGGING, gunicorn would compose a line and drop it."""


class ReleasesWorker(Thread):
    """Runs `manage.py worker` until stopped, and starts it again if it dies.

    If this process is killed, the worker notices it and ends.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._is_stopped = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the worker, then wait for its end in a thread.

        Call before the server forks: a process that is forked during a start keeps its pipe open,
        and the start would wait until that process ends.
        """
        self._start_process()
        super().start()

    def run(self) -> None:
        while self._process:
            self._process.wait()
            child_exit(None, self._process)
            if not self._is_stopped:
                time.sleep(WORKER_RESTART_S)
            if self._is_stopped:
                return
            _logger.warning("The worker of releases has ended, and is started again.")
            self._start_process()

    def _start_process(self) -> None:
        command = [sys.executable, str(BASE_DIR / "manage.py"), "worker", f"--parent={os.getpid()}"]
        self._process = subprocess.Popen(command)  # noqa: S603  # our own command

    def stop(self) -> None:
        """Tell the worker to end. A signal's handler calls this, so it takes no lock."""
        self._is_stopped = True
        if self._process:
            self._process.terminate()

    def wait(self, timeout_s: float) -> None:
        self.stop()
        self.join(timeout_s)
        if self._process and self.is_alive():
            self._process.kill()


def post_worker_init(_worker: Any) -> None:
    """Ignore Ctrl+C, which the server handles, and exempt loaded objects from garbage collection.

    A terminal sends Ctrl+C to all processes at once. Scanning the loaded objects would stop every
    thread for 0.1 s now and then. Source: Python's documentation, `gc.freeze`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()


def worker_exit(_server: Any, _worker: Any) -> None:
    from dashboard.service.client import close_publishing_client

    close_publishing_client()
    flush_spans()


def child_exit(_server: Any, worker: Any) -> None:
    if settings.METRICS_TOKEN:
        from prometheus_client.multiprocess import mark_process_dead

        # Its counts are kept; its live gauges are removed.
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


SETTINGS: dict[str, Any] = {
    "worker_class": Worker,
    "logger_class": ErrorLog,
    # Proxies keep a connection for a minute. If we closed it first, a request sent at that moment
    # would be lost.
    "keepalive": 75,
    # A URL may contain three ids from the service, each encoded twice.
    "limit_request_line": 8190,
    # Only Django's settings decide whether a proxy's headers are trusted (BEHIND_PROXY), and no
    # client may set SCRIPT_NAME.
    "secure_scheme_headers": {},
    "forwarder_headers": "",
    "control_socket_disable": True,
    "post_worker_init": post_worker_init,
    "worker_exit": worker_exit,
    "child_exit": child_exit,
}


def stop_gracefully(worker: ReleasesWorker | None) -> None:
    """Let SIGTERM and the first SIGINT end the worker and the server once they are done.

    Gunicorn's own handler for SIGINT cuts off responses; only a second SIGINT runs it.
    """

    def stop(_number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, interrupt)
        if worker:
            worker.stop()
        terminate(signal.SIGTERM, frame)

    terminate: Any = signal.signal(signal.SIGTERM, stop)
    interrupt = signal.signal(signal.SIGINT, stop)


def serve(
    host: str,
    port: int,
    processes: int,
    threads: int,
    *,
    has_worker: bool,
    on_ready: Callable[[], None],
) -> None:
    """Serve on `host`:`port` until stopped; call `on_ready` once the port is open.

    With `has_worker`, `manage.py worker` runs beside it until the server stops. Raises SystemExit
    if the port is taken.
    """
    worker = ReleasesWorker() if has_worker else None
    # Cutting a publish short would leave its outcome unknown.
    stop_s = ceil(request_limit().total_seconds())

    def when_ready(_server: Any) -> None:
        if settings.METRICS_TOKEN:
            # Each process writes its counts there, and prometheus-client merges them.
            os.environ[SHARED_FOLDER] = tempfile.mkdtemp(prefix="pressroom-metrics-")
        if worker:
            worker.start()
        stop_gracefully(worker)
        on_ready()

    def on_exit(_server: Any) -> None:
        if worker:
            worker.wait(stop_s)
        if settings.METRICS_TOKEN:
            shutil.rmtree(os.environ[SHARED_FOLDER], ignore_errors=True)

    collect_static()
    # Forked processes must not share a connection with this one.
    connections.close_all()
    Server(
        bind=f"{host}:{port}",
        workers=processes,
        threads=threads,
        graceful_timeout=stop_s,
        logconfig_dict=settings.LOGGING,
        when_ready=when_ready,
        on_exit=on_exit,
        **SETTINGS,
    ).run()
