"""Run gunicorn by its documented settings and hooks, and the worker of releases beside it."""

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import ceil
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.db import connections
from gunicorn.app.base import BaseApplication
from gunicorn.workers.gthread import ThreadWorker

from config.environment import BASE_DIR
from dashboard.clock import request_limit
from dashboard.observability.tracing import flush_spans
from dashboard.server.static_files import collect_static

WORKER_RESTART_S = 5.0
"""Between the end of the worker of releases and its next start. Source: our choice."""
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus-client's variable for the folder in which processes share their counts."""

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
    """Gunicorn's threads, refusing connections once stopping.

    Gunicorn's own keeps the port open while it finishes, for 90 s during a publish: clients wait in
    vain, and a proxy tries no other machine. No setting or hook closes the port.
    """

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  # gunicorn's
        """Take connections or not; a worker that stops closes the port for good."""
        super().set_accept_enabled(enabled)
        if not self.alive:
            for port in self.sockets:
                port.close()


class ReleasesWorker(Thread):
    """Runs `manage.py worker`, and starts it again if it dies, until stopped.

    If this process is killed, the worker notices by itself.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._is_stopped = Event()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        command = [sys.executable, str(BASE_DIR / "manage.py"), "worker", f"--parent={os.getpid()}"]
        while not self._is_stopped.is_set():
            self._process = subprocess.Popen(command)  # noqa: S603  # our own command
            self._process.wait()
            child_exit(None, self._process)
            if not self._is_stopped.wait(WORKER_RESTART_S):
                _logger.warning("The worker of releases has ended, and is started again.")

    def stop(self) -> None:
        self._is_stopped.set()
        if self._process:
            self._process.terminate()

    def wait(self, timeout_s: float) -> None:
        self.stop()
        self.join(timeout_s)
        if self._process and self.is_alive():
            self._process.kill()


def post_worker_init(_worker: Any) -> None:
    """Ignore Ctrl+C, which the server handles, and keep loaded objects from the collector.

    A terminal sends Ctrl+C to all processes at once. To scan what was loaded for garbage stops
    every thread for 0.1 s now and then. Source: Python's documentation, `gc.freeze`.
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

        # Its counts stay, its live gauges go.
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


SETTINGS: dict[str, Any] = {
    "worker_class": Worker,
    # Above the minute for which proxies keep a connection: one that is closed at the very moment
    # it is used again is a lost request.
    "keepalive": 75,
    # A URL may hold three ids of the service's choice, each encoded twice.
    "limit_request_line": 8190,
    # What a proxy's headers mean is for Django's settings alone to say (BEHIND_PROXY), and a client
    # may not name the path under which all of this is (SCRIPT_NAME).
    "secure_scheme_headers": {},
    "forwarder_headers": "",
    "control_socket_disable": True,
    "post_worker_init": post_worker_init,
    "worker_exit": worker_exit,
    "child_exit": child_exit,
}


def stop_gracefully(worker: ReleasesWorker | None) -> None:
    """Let SIGTERM and the first SIGINT end the worker and the server once they are done.

    Gunicorn's own way for SIGINT would cut off what is being sent: that is the second one's.
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

    With `has_worker`, a `manage.py worker` runs beside it for as long. Ends by SystemExit if the
    port is taken.
    """
    worker = ReleasesWorker() if has_worker else None
    # Cutting a publish short would leave its outcome unknown.
    stop_s = ceil(request_limit().total_seconds())

    def when_ready(_server: Any) -> None:
        if settings.METRICS_TOKEN:
            # For what each process counts, which prometheus-client merges.
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
    # A connection must not be shared with the processes that are forked from this one.
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
