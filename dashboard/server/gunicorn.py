"""Run gunicorn: its settings and hooks, its log, and a worker with a time limit for requests."""

import errno
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from django.conf import settings
from django.db import connections
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from config.environment import BASE_DIR
from dashboard.observability.metrics import SHARED_FOLDER
from dashboard.observability.tracing import flush_spans
from dashboard.server.static_files import collect_static
from dashboard.time_limits import request_limit

REQUEST_S = 10.0
"""How long a request may take to arrive, head and body, in seconds. Source: our choice."""
LAST_MOMENT_S = 0.5
"""At least, for one that waited for a thread meanwhile: most of it has arrived by then."""
WORKER_RESTART_S = 10.0
"""At least, between two starts of the worker of releases."""
LEAST_BYTES_PER_S = 16_384
"""A large form over a slow line gets another second for each of these. Source: our choice."""


class ServerLog(Logger):  # type: ignore[misc]  # it has no types
    """Gunicorn's messages go to the root logger, in the form of the dashboard's."""

    def setup(self, cfg: Any) -> None:
        """Remove gunicorn's own handlers; the settings have set up the root logger."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Log a failure without the query string of its URL: it may hold a person's name."""
        redacted = (arg.partition("?")[0] if isinstance(arg, str) else arg for arg in args)
        super().exception(msg, *redacted, **kwargs)


class TimedSocket(socket.socket):
    """A connection that ends when a request takes too long to arrive.

    Gunicorn has no limit for it, and each slow client holds one of its threads.
    """

    deadline = float("inf")
    """On the monotonic clock."""

    def recv(self, *args: Any) -> bytes:
        """Read what has arrived. Raises ConnectionResetError, which gunicorn leaves unlogged."""
        before = self.gettimeout()
        left = max(self.deadline - time.monotonic(), 0.001)
        self.settimeout(left if before is None else min(before, left))
        try:
            data = super().recv(*args)
        except TimeoutError:
            if time.monotonic() < self.deadline:
                raise
            raise ConnectionResetError(errno.ECONNRESET, "The request arrived too slowly") from None
        finally:
            self.settimeout(before)
        self.deadline += len(data) / LEAST_BYTES_PER_S
        return data


class Worker(ThreadWorker):  # type: ignore[misc]  # it has no types
    """Gunicorn's threads, with a time limit for requests, refusing connections once stopping.

    Its own worker keeps the port open while it finishes: a client that connects waits in vain.
    """

    def enqueue_req(self, conn: Any) -> None:
        """Start the time limit when a connection begins to wait for a thread."""
        if not isinstance(conn.sock, TimedSocket):
            conn.sock = TimedSocket(fileno=conn.sock.detach())
        conn.sock.deadline = time.monotonic() + REQUEST_S
        super().enqueue_req(conn)

    def handle(self, conn: Any) -> Any:
        """Serve one request; one that waited long gets a last moment for the rest of it."""
        conn.sock.deadline = max(conn.sock.deadline, time.monotonic() + LAST_MOMENT_S)
        return super().handle(conn)

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  # gunicorn's
        """Take connections or not; a worker that stops closes the port for good."""
        super().set_accept_enabled(enabled)
        if not self.alive:
            for port in self.sockets:
                port.close()


def post_worker_init(_worker: Any) -> None:
    """Ignore Ctrl+C, which the server handles, and keep loaded objects from the collector.

    A terminal sends Ctrl+C to all processes at once. To scan what was loaded for garbage stops
    every thread for 0.1 s now and then. Source: Python's documentation, `gc.freeze`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()


def worker_exit(_server: Any, _worker: Any) -> None:
    """Close a worker's connections to the service, and flush its spans."""
    from dashboard.service.client import close_publishing_client

    close_publishing_client()
    flush_spans()


def child_exit(_server: Any, worker: Any) -> None:
    """Keep a dead worker's counts, and drop its live gauges."""
    if settings.METRICS_TOKEN:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


class ArbiterWithWorker(Arbiter):  # type: ignore[misc]  # it has no types
    """Gunicorn's main process, which also runs `manage.py worker` for as long as it serves.

    Killed, it can't end the worker: that notices by itself.
    """

    releases_worker: "subprocess.Popen[bytes] | None" = None
    worker_started_at = 0.0
    """On the monotonic clock."""

    def manage_workers(self) -> None:
        """Also start the worker of releases, and start it again if it has died."""
        super().manage_workers()
        worker, now = self.releases_worker, time.monotonic()
        if worker and (worker.poll() is None or now - self.worker_started_at < WORKER_RESTART_S):
            return
        if worker:
            self.log.warning("The worker of releases has ended, and is started again.")
            child_exit(self, worker)
        command = [sys.executable, str(BASE_DIR / "manage.py"), "worker", f"--parent={os.getpid()}"]
        self.releases_worker = subprocess.Popen(command)  # noqa: S603  # our own command
        self.worker_started_at = now

    def stop(self, graceful: bool = True) -> None:  # noqa: FBT001, FBT002  # gunicorn's
        """Stop everything; the worker ends its step, while requests in progress end."""
        if worker := self.releases_worker:
            worker.terminate()
        super().stop(graceful)
        if worker:
            try:
                worker.wait(self.cfg.graceful_timeout)
            except subprocess.TimeoutExpired:
                worker.kill()


class Server(BaseApplication):  # type: ignore[misc]  # it has no types
    """Gunicorn with our settings instead of a command line and a configuration file.

    Source: gunicorn's documentation, Custom Application.
    """

    def __init__(self, *, has_worker: bool, **options: Any) -> None:
        self.has_worker = has_worker
        self.options = options
        super().__init__()

    def run(self) -> None:
        """Serve until stopped. Ends by SystemExit if the port is taken."""
        if self.has_worker:
            ArbiterWithWorker(self).run()
        else:
            super().run()

    def load_config(self) -> None:
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the application, in each worker after it was started."""
        from config.wsgi import application

        return application


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

    With `has_worker`, a `manage.py worker` runs beside it for as long.

    SIGTERM and SIGINT let requests in progress end. Ends by SystemExit if the port is taken.
    """

    def when_ready(server: Any) -> None:
        # Gunicorn's own way for Ctrl+C would cut off what is being sent.
        server.handle_int = server.handle_term
        on_ready()

    collect_static()
    # A connection must not be shared with the workers that are forked from this process.
    connections.close_all()
    with _metrics_folder():
        Server(
            has_worker=has_worker,
            bind=f"{host}:{port}",
            worker_class=Worker,
            workers=processes,
            threads=threads,
            # Cutting a publish short would leave its outcome unknown.
            graceful_timeout=ceil(request_limit().total_seconds()),
            # Above the minute for which proxies keep a connection: one that is closed at the very
            # moment it is used again is a lost request.
            keepalive=75,
            # A URL may hold three ids of the service's choice, each encoded twice.
            limit_request_line=8190,
            logger_class=ServerLog,
            loglevel="warning",
            # What a proxy's headers mean is for Django's settings alone to say (BEHIND_PROXY),
            # and a client may not name the path under which all of this is (SCRIPT_NAME).
            secure_scheme_headers={},
            forwarder_headers="",
            control_socket_disable=True,
            when_ready=when_ready,
            post_worker_init=post_worker_init,
            worker_exit=worker_exit,
            child_exit=child_exit,
        ).run()


@contextmanager
def _metrics_folder() -> Iterator[None]:
    """Give the workers a folder in which prometheus-client merges what each counts."""
    if not settings.METRICS_TOKEN:
        yield
        return
    folder = os.environ[SHARED_FOLDER] = tempfile.mkdtemp(prefix="pressroom-metrics-")
    server = os.getpid()
    try:
        yield
    finally:
        # A forked worker leaves this block, too.
        if os.getpid() == server:
            shutil.rmtree(folder, ignore_errors=True)
