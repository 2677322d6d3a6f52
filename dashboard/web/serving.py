"""The production server: gunicorn on `config.wsgi`, started from our own command line."""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.files import locks
from django.core.management import call_command
from django.db import Error, connections
from gunicorn.app.base import BaseApplication

from dashboard.web.collecting import is_collected
from dashboard.web.readiness import pending_migrations
from dashboard.web.sending import longest_sending
from dashboard.web.server_hooks import (
    ServerLog,
    Worker,
    forget_worker,
    sends_its_spans,
    settles_in,
    shared_counts,
    stops_gently,
)


class Server(BaseApplication):  # type: ignore[misc]  # it has no types
    """Gunicorn with our options in place of its own command line and configuration file.

    Source: gunicorn's documentation, Custom Application.
    """

    def __init__(self, **options: Any) -> None:
        """Keep the options; the base class reads them at once."""
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Hand the options to gunicorn."""
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
    when_ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer on `host`:`port` until stopped; call `when_ready` once the port is open.

    SIGTERM and SIGINT let requests under way end, for up to `grace_s()`. Ends by SystemExit
    where the port is taken.
    """

    def ready(arbiter: Any) -> None:
        stops_gently(arbiter)
        when_ready()

    collect_static()
    # A connection must not be shared with the workers that are forked from this process.
    connections.close_all()
    with shared_counts():
        Server(
            bind=f"{host}:{port}",
            worker_class=Worker,
            workers=processes,
            threads=threads,
            graceful_timeout=grace_s(),
            # Above the minute for which proxies keep a connection: one that is closed at the very
            # moment it is used again is a lost request.
            keepalive=75,
            # An address may hold three ids of the service's choice, each encoded twice.
            limit_request_line=8190,
            logger_class=ServerLog,
            loglevel="warning",
            # What a proxy's headers mean is for Django's settings alone to say (BEHIND_PROXY).
            secure_scheme_headers={},
            control_socket_disable=True,
            when_ready=ready,
            post_worker_init=settles_in,
            worker_exit=sends_its_spans,
            child_exit=forget_worker,
        ).run()


def grace_s() -> int:
    """Return how long requests under way may take to end when the server is stopped, in seconds.

    A publish first reads, then sends, and each may take the whole of SERVICE_TIMEOUT_S. Cutting it
    short would leave its outcome unknown.
    """
    return ceil(settings.SERVICE_TIMEOUT_S + longest_sending().total_seconds())


def reasons_not_to_start() -> list[str]:
    """Return what stands in the way of serving, each in one sentence; empty where nothing does."""
    wrong = [str(found.msg) for found in checks.run_checks() if found.is_serious()]
    return [*wrong, *_wrong_with_the_database()]


def _wrong_with_the_database() -> list[str]:
    try:
        pending = pending_migrations()
    except Error as failure:
        # Drivers write several lines, the last of which may be a question.
        return [f"DATABASE_URL: the database does not answer ({' '.join(str(failure).split())})."]
    if pending:
        return [f"Migrations are not applied ({pending}): run `manage.py migrate` first."]
    return []


def deployment_warnings() -> list[str]:
    """Return what `manage.py check --deploy` has to say, of each the first sentence."""
    found = checks.run_checks(include_deployment_checks=True)
    return [f"{warning.msg.split('. ')[0].rstrip('.')} ({warning.id})." for warning in found]


def collect_static() -> None:
    """Collect static files where the collected ones are missing or made of other sources.

    One process at a time: two at once would take each other's files away.
    """
    if is_collected():
        # In a container nothing may be writable, not even a lock.
        return
    with Path(f"{settings.STATIC_ROOT}.lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        if is_collected():
            return
        call_command("collectstatic", interactive=False, verbosity=0)
