"""`manage.py demo`: prepare sample data and start a server, in one command.

Several demos may run at the same time on different ports, and serve the same data.
"""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import locks
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, connections
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from config.environment import create_private
from dashboard import clock
from dashboard.demo.load import GROUPS, SampleService, fill, sample_service, subscribe_receiver
from dashboard.demo.machines import token_to_try
from dashboard.server.gunicorn import serve
from dashboard.server.management.commands.serve import count, port
from dashboard.server.static_files import collect_static

HOST = "127.0.0.1"
PROCESSES, THREADS = 1, 16
"""One process, whose threads share a cache. Several processes would need Redis."""
READY = """
Pressroom is running on {address}

  Sign in as   {accounts}   (the password is the name)
  Call its API curl -H 'x-api-key: {key}' {address}v0/pages
  By machine   curl -H 'Authorization: Bearer {token}' {address}api/1/audiences
               The key and the token are valid until the next start.
  Start over   with --fresh; otherwise the data stays.
  Stop         with Ctrl+C.
"""


class Command(BaseCommand):
    help = "Create sample data and accounts, and serve Pressroom on 127.0.0.1."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port, default=8000)
        people = "number of people to create"
        parser.add_argument("--people", type=count, default=5_000, help=people)
        parser.add_argument("--fresh", action="store_true", help="start over with new data")

    def handle(self, *, port: int, people: int, fresh: bool, **options: Any) -> None:
        if not settings.EMBEDDED_API:
            raise CommandError("SERVICE_URL is set, but the demo has its own service: unset it.")
        _require_free_port(port)
        sample = sample_service(clock.now())
        address = f"http://{HOST}:{port}/"
        try:
            with prepared_database(lambda: _prepare(sample, people, fresh=fresh), fresh=fresh):
                key = sample.issue_key()
                subscribe_receiver(sample, address)
                token = token_to_try(User.objects.get(username="publisher"))
                ready = READY.format(
                    address=address, accounts=", ".join(GROUPS), key=key, token=token
                )
                serve(
                    *(HOST, port, PROCESSES, THREADS),
                    has_worker=True,
                    on_ready=lambda: self._write(ready),
                )
        except KeyboardInterrupt:
            raise CommandError("Stopped before it was ready; nothing was saved.") from None

    def _write(self, text: str) -> None:
        """Write without buffering, also to a pipe or file."""
        self.stdout.write(text)
        self.stdout.flush()


def _prepare(sample: SampleService, people: int, *, fresh: bool) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console()
    bar = Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with ThreadPoolExecutor(1) as aside, bar:
        task = bar.add_task("Preparing the database", total=None)

        def report(text: str, done: int = 0, total: int = 0) -> None:
            bar.update(task, description=f"Creating {text}", completed=done, total=total or None)

        # Compressing takes as long as creating the data, and uses the other core.
        collected = aside.submit(collect_static)
        has_accounts = "auth_user" in connection.introspection.table_names()
        ours = User.objects.filter(username__in=GROUPS)
        # Users may have added other accounts since.
        is_demo = has_accounts and sample.is_loaded() and ours.exists()
        if has_accounts and not is_demo and User.objects.exclude(pk__in=ours).exists():
            # The demo's passwords are public.
            raise CommandError(
                "DATABASE_URL names a database with accounts that the demo did not create: "
                "unset it."
            )
        if fresh:
            delete_database()
        call_command("migrate", verbosity=0)
        if fresh or not is_demo:
            fill(sample, people=people, progress=report)
        bar.update(task, description="Compressing static files", total=None)
        collected.result()


def _require_free_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            message = f"Port {port} is unavailable: choose another with --port, or free it."
            raise CommandError(message) from None


@contextmanager
def prepared_database(prepare: Callable[[], None], *, fresh: bool) -> Iterator[None]:
    """Prepare the data unless another demo serves it, and hold a shared lock meanwhile.

    Several demos may serve the same data on different ports: the first prepares it, the others
    wait. Raises CommandError for `fresh` if another demo uses the data.
    """
    lock = Path(settings.STATIC_ROOT).parent / "demo.lock"
    if connection.vendor == "sqlite":
        lock = Path(f"{connection.settings_dict['NAME']}.lock")
    with lock.open("w") as file:
        is_ours = locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
        if fresh and not is_ours:
            raise CommandError("Another demo is using this data: stop it before --fresh.")
        if is_ours:
            prepare()
        locks.lock(file, locks.LOCK_SH)
        yield


def delete_database() -> None:
    if connection.vendor != "sqlite":
        raise CommandError("--fresh only works with SQLite: use an empty database instead.")
    connections.close_all()
    name = connection.settings_dict["NAME"]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{name}{suffix}").unlink(missing_ok=True)
    create_private(Path(name))
