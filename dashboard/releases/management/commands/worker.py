"""`manage.py worker`: run the releases that are due, until stopped."""

import os
import signal
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from dashboard.releases.worker import new_worker_id, run_worker


class Command(BaseCommand):
    """Run releases. SIGTERM and SIGINT let the current step end, its call included."""

    help = "Run releases: check, publish and schedule them. Any number of workers may run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--parent",
            type=int,
            metavar="PID",
            help="the process that starts this one: the worker ends with it, however that ends",
        )

    def handle(self, *, parent: int | None, **options: Any) -> None:
        """Work until a signal, or until the server is gone."""
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        worker_id = new_worker_id()
        if parent is None:
            self.stdout.write("The worker is running. Press Ctrl+C to stop.")
            self.stdout.flush()
        run_worker(worker_id, stop, is_orphaned=lambda: parent not in (None, os.getppid()))
