"""What of gunicorn is made ours: its log, its stop, and what its workers count."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from dashboard.web.tracing import send_the_rest

GARBAGE_SOUGHT_AFTER = 5_000
"""New things: a list is of a thousand, none of which is garbage before it was sent."""
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus-client learns where processes share their counts."""


class ServerLog(Logger):  # type: ignore[misc]  # it has no types
    """Gunicorn's own words go where the dashboard's go, in the same form."""

    def setup(self, cfg: Any) -> None:
        """Hand what is logged to the root logger, which the settings have set up."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Log a failure without the query of its address: it may hold a person's name."""
        cut = (arg.partition("?")[0] if isinstance(arg, str) else arg for arg in args)
        super().exception(msg, *cut, **kwargs)


class Worker(ThreadWorker):  # type: ignore[misc]  # it has no types
    """Gunicorn's threads, refusing connections once told to stop.

    Its own worker keeps the port open while it finishes: who connects then waits in vain.
    """

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  # gunicorn's
        """Take connections or not; a worker that stops closes the port for good."""
        super().set_accept_enabled(enabled)
        if not self.alive:
            for port in self.sockets:
                port.close()


def stops_gently(arbiter: Any) -> None:
    """Let Ctrl+C do what SIGTERM does; gunicorn's own way would cut off what is being sent."""
    arbiter.handle_int = arbiter.handle_term


def settles_in(_worker: Any) -> None:
    """Prepare a worker that has loaded everything and answered nothing.

    It ignores Ctrl+C, which a terminal sends to all processes at once. And it looks no more for
    garbage in what was loaded: that stays for good, and to go through it all would now and then
    stop every thread for a tenth of a second. Source: Python's documentation, `gc.freeze`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_SOUGHT_AFTER)


@contextmanager
def shared_counts() -> Iterator[None]:
    """Give the workers a folder in which they share what they count, while the server runs."""
    if not settings.METRICS_TOKEN:
        yield
        return
    folder = os.environ[SHARED_FOLDER] = tempfile.mkdtemp(prefix="pressroom-metrics-")
    server = os.getpid()
    try:
        yield
    finally:
        # A worker that ends comes this way too.
        if os.getpid() == server:
            shutil.rmtree(folder, ignore_errors=True)


def sends_its_spans(_arbiter: Any, _worker: Any) -> None:
    """Let nothing be lost of what a worker that ends has to tell the collector."""
    send_the_rest()


def forget_worker(_arbiter: Any, worker: Any) -> None:
    """Leave what a worker counted, and forget what only a living one can say."""
    if settings.METRICS_TOKEN:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
