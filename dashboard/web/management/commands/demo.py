"""`manage.py demo`: everything from nothing to a running server, in one command.

It may run twice at the same time on ports of its own: both then serve the same data.
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

from dashboard.web.demo.accounts import GROUPS
from dashboard.web.demo.database import forget_everything, prepared, refuse_foreign_data
from dashboard.web.demo.filling import fill
from dashboard.web.demo.service import SampleService, sample_service
from dashboard.web.server_options import count, port
from dashboard.web.serving import collect_static, serve

HOST = "127.0.0.1"
PROCESSES, THREADS = 2, 8
READY = """
Pressroom answers on {address}

  Log in as    {accounts}   (the password is the name)
  Call its API curl -H 'x-api-key: {key}' {address}v0/pages
               This key holds until the next start.
  Start over   with --fresh; until then the data is kept.
  Stop         with Ctrl+C.
"""


class Command(BaseCommand):
    """Prepare a database with sample data and accounts, and serve it on this machine alone."""

    help = "Make sample data and accounts, and serve Pressroom on 127.0.0.1."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the port and the size of the sample."""
        parser.add_argument("--port", type=port, default=8000)
        parser.add_argument("--people", type=count, default=5_000, help="how many people to make")
        parser.add_argument("--fresh", action="store_true", help="start over with new data")

    def handle(self, *, port: int, people: int, fresh: bool, **options: Any) -> None:
        """Prepare what is missing, then serve until stopped."""
        _refuse_another_service()
        _refuse_a_port_in_use(port)
        sample = sample_service(timezone.now())
        address = f"http://{HOST}:{port}/"
        try:
            with prepared(lambda: _prepare(sample, people, fresh=fresh), fresh=fresh):
                key = sample.issue_key()
                ready = READY.format(address=address, accounts=", ".join(GROUPS), key=key)
                serve(HOST, port, PROCESSES, THREADS, when_ready=lambda: self._say(ready))
        except KeyboardInterrupt:
            raise CommandError("Stopped before it was ready; nothing half-made is kept.") from None

    def _say(self, text: str) -> None:
        """Write at once, into a pipe or file too: somebody waits for the address."""
        self.stdout.write(text)
        self.stdout.flush()


def _prepare(sample: SampleService, people: int, *, fresh: bool) -> None:
    with ThreadPoolExecutor(1) as aside, _bar() as bar:
        task = bar.add_task("Preparing the database", total=None)

        def tell(what: str, done: int = 0, total: int = 0) -> None:
            bar.update(task, description=f"Making {what}", completed=done, total=total or None)

        # Compressing takes as long as making the data does, and has the other core to itself.
        collected = aside.submit(collect_static)
        refuse_foreign_data(is_demo=sample.is_loaded())
        if fresh:
            forget_everything()
        call_command("migrate", verbosity=0)
        if not sample.is_loaded():
            fill(sample, people=people, progress=tell)
        bar.update(task, description="Compressing static files", total=None)
        collected.result()


def _bar() -> Progress:
    """Return a bar that is drawn on a terminal, and gone when all is ready."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console()
    quiet = not console.is_terminal
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=quiet)


def _refuse_another_service() -> None:
    if not settings.EMBEDDED_API:
        raise CommandError("SERVICE_URL is set, and the demo brings its own service: unset it.")


def _refuse_a_port_in_use(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            said = f"Port {port} can't be used: choose another with --port, or free it."
            raise CommandError(said) from None
