"""`manage.py demo`: prepare sample data and start a server, in one command.

Several may run at the same time on different ports, and serve the same data.
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dashboard.demo.database import (
    delete_database,
    has_demo_accounts,
    prepared_database,
    refuse_other_accounts,
)
from dashboard.demo.load import GROUPS, SampleService, fill, sample_service, subscribe_receiver
from dashboard.server.gunicorn import serve
from dashboard.server.options import count, port
from dashboard.server.static_files import collect_static

HOST = "127.0.0.1"
PROCESSES, THREADS = 1, 16
"""One process, whose threads share a cache; several would need a Redis."""
READY = """
Pressroom is running on {address}

  Sign in as   {accounts}   (the password is the name)
  Call its API curl -H 'x-api-key: {key}' {address}v0/pages
               This key is valid until the next start.
  Start over   with --fresh; otherwise the data stays.
  Stop         with Ctrl+C.
"""


class Command(BaseCommand):
    """Prepare a database with sample data and accounts, and serve it on localhost."""

    help = "Create sample data and accounts, and serve Pressroom on 127.0.0.1."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port, default=8000)
        people = "number of people to create"
        parser.add_argument("--people", type=count, default=5_000, help=people)
        parser.add_argument("--fresh", action="store_true", help="start over with new data")

    def handle(self, *, port: int, people: int, fresh: bool, **options: Any) -> None:
        """Prepare what is missing, then serve until stopped."""
        if not settings.EMBEDDED_API:
            raise CommandError("SERVICE_URL is set, but the demo has its own service: unset it.")
        _require_free_port(port)
        sample = sample_service(timezone.now())
        address = f"http://{HOST}:{port}/"
        try:
            with prepared_database(lambda: _prepare(sample, people, fresh=fresh), fresh=fresh):
                key = sample.issue_key()
                subscribe_receiver(sample, address)
                ready = READY.format(address=address, accounts=", ".join(GROUPS), key=key)
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
    with ThreadPoolExecutor(1) as aside, _bar() as bar:
        task = bar.add_task("Preparing the database", total=None)

        def report(text: str, done: int = 0, total: int = 0) -> None:
            bar.update(task, description=f"Creating {text}", completed=done, total=total or None)

        # Compressing takes as long as creating the data, and uses the other core.
        collected = aside.submit(collect_static)
        is_demo = sample.is_loaded() and has_demo_accounts()
        refuse_other_accounts(is_demo=is_demo)
        if fresh:
            delete_database()
        call_command("migrate", verbosity=0)
        if fresh or not is_demo:
            fill(sample, people=people, progress=report)
        bar.update(task, description="Compressing static files", total=None)
        collected.result()


def _bar() -> Progress:
    """Return a progress bar for a terminal, which disappears at the end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console()
    quiet = not console.is_terminal
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=quiet)


def _require_free_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            message = f"Port {port} is unavailable: choose another with --port, or free it."
            raise CommandError(message) from None
